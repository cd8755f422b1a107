import { parseSender, parseSmtpUrl } from '../mail/settings.ts'
import { optionalText, parseAddresses, parseRanges } from './parsers.ts'
import type { SettingRows, ValuesOf } from './setting.ts'

export const platformSettings = {
  CP_MASTER_KEY_FILE: {
    default: '',
    help: 'Key that encrypts secrets at rest; default <data>/master.key',
    whenEmpty: ({ CP_DATA_DIR }) => `${CP_DATA_DIR}/master.key`,
    parse: optionalText,
  },
  CP_SMTP_URL: { default: '', secret: true, help: 'Mail server, smtp[s]://user:password@host:port; empty sends none', parse: parseSmtpUrl },
  CP_SMTP_FROM: {
    default: '',
    help: 'Address that mail comes from, with a name if wanted',
    whenEmpty: '(none: no mail is sent)',
    parse: parseSender,
  },
  CP_OUTGOING_ALLOW: {
    default: '',
    help: 'Private ranges (CIDRs) that requests may go to whose destination no setting names',
    whenEmpty: '(none)',
    parse: parseRanges,
  },
  CP_PUBLIC_ADDRESSES: {
    default: '',
    help: 'Addresses at which the world reaches this machine, for custom domains',
    whenEmpty: "(the public ones of this machine's interfaces)",
    parse: parseAddresses,
  },
} satisfies SettingRows

export type PlatformSettings = ValuesOf<typeof platformSettings>
