import { parseProviderUrl } from '../../identity/setting-parsers.ts'
import { optionalText } from '../../platform/settings/parsers.ts'
import type { SettingRows, ValuesOf } from '../../platform/settings/setting.ts'

export const sourceHostSettings = {
  CP_GITHUB_APP_ID: {
    default: '',
    help: 'Id of a GitHub App that all workspaces install; empty lets each make one of its own',
    whenEmpty: '(none: each workspace makes its own)',
    parse: parseAppId,
  },
  CP_GITHUB_APP_KEY_FILE: { default: '', help: 'File with its private key', whenEmpty: '(none)', parse: optionalText },
  CP_GITHUB_APP_CLIENT_ID: { default: '', help: 'Its client id', whenEmpty: '(none)', parse: optionalText },
  CP_GITHUB_APP_CLIENT_SECRET: { default: '', secret: true, help: 'Its client secret', parse: optionalText },
  CP_GITHUB_WEBHOOK_SECRET: { default: '', secret: true, help: 'Secret of its webhook', parse: optionalText },
  CP_GITEA_URL: {
    default: '',
    help: 'URL of a Gitea or Forgejo, which may be in a private network',
    whenEmpty: '(none)',
    parse: (value: string) => parseProviderUrl(value)?.replace(/\/+$/, ''),
  },
  CP_GITEA_CA_FILE: {
    default: '',
    help: 'File with the certificate of the authority that it is verified by, in PEM',
    whenEmpty: '(those that the machine trusts)',
    parse: optionalText,
  },
} satisfies SettingRows

export type SourceHostSettings = ValuesOf<typeof sourceHostSettings>

function parseAppId(value: string): string | undefined {
  if (value !== '' && !/^[1-9]\d{0,14}$/.test(value)) throw new Error(`"${value}" is no id of a GitHub App, which is a number`)
  return optionalText(value)
}
