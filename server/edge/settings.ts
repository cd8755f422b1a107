import { oneOf, optionalText, parseDirectory, parseEmail, parseResolver } from '../platform/settings/parsers.ts'
import type { SettingRows, ValuesOf } from '../platform/settings/setting.ts'

export const edgeSettings = {
  CP_DNS_RESOLVER: {
    default: '',
    help: 'Name server that custom domains are looked up at, address:port',
    whenEmpty: "(the system's)",
    parse: parseResolver,
  },
  CP_ACME_DIRECTORY: {
    default: 'https://acme-v02.api.letsencrypt.org/directory',
    help: 'Directory of the authority that certificates come from; off obtains none',
    whenEmpty: 'off',
    parse: parseDirectory,
  },
  CP_ACME_ROOT: { default: '', help: "PEM file with the root of the directory's own TLS", whenEmpty: '(none)', parse: optionalText },
  CP_ACME_EMAIL: {
    default: '',
    help: 'Where the authority may write to',
    whenEmpty: '(none)',
    parse: (value: string) => (value === '' ? undefined : parseEmail(value)),
  },
  CP_ACME_CHALLENGE: {
    default: 'http-01',
    help: 'How hosts are shown to be ours: http-01, tls-alpn-01 or dns-01',
    parse: oneOf(['http-01', 'tls-alpn-01', 'dns-01']),
  },
  CP_ACME_DNS_HOOK: {
    default: '',
    help: 'Program that sets DNS records, for dns-01 and wildcards',
    whenEmpty: '(none)',
    parse: optionalText,
  },
  CP_ACME_EAB_KID: {
    default: '',
    help: 'Key id of the account at the authority, where it wants one',
    whenEmpty: '(none)',
    parse: optionalText,
  },
  CP_ACME_EAB_HMAC: { default: '', secret: true, help: 'HMAC key of that account, base64url', parse: optionalText },
} satisfies SettingRows

export type EdgeSettings = ValuesOf<typeof edgeSettings>
