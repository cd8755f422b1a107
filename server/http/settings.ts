import { type Address, parseAddress } from '../platform/network/address.ts'
import { integer, parseOrigins, parseProxies, parsePublicUrl } from '../platform/settings/parsers.ts'
import type { SettingRows, ValuesOf } from '../platform/settings/setting.ts'

const perMinute = integer(0, 1e9)

export const httpSettings = {
  CP_LISTEN: { default: '127.0.0.1:8400', flag: '--listen', help: 'Address of the API', parse: parseAddress },
  CP_PUBLIC_URL: {
    default: '',
    help: 'URL under which people reach the API; all links use it',
    whenEmpty: ({ CP_LISTEN }) => publicUrlOf({ CP_PUBLIC_URL: undefined, CP_LISTEN: CP_LISTEN as Address }),
    parse: parsePublicUrl,
  },
  CP_TRUSTED_PROXIES: { default: '', help: 'CIDRs whose forwarded headers count', whenEmpty: '(none)', parse: parseProxies },
  CP_API_CONNECTIONS_PER_ADDRESS: {
    default: '500',
    help: 'Connections to the API that one client address, or one IPv6 /64, may have at a time; 0 is no limit, and trusted proxies have none',
    parse: integer(0, 1e6),
  },
  CP_RATE_LIMIT: {
    default: '6000',
    help: 'Requests a minute for one credential, or one address without; 0 is no limit of any kind',
    parse: perMinute,
  },
  CP_WRITE_LIMIT: { default: '1200', help: 'Requests a minute that change something; 0 is no limit of their own', parse: perMinute },
  CP_DEPLOY_LIMIT: { default: '120', help: 'Uploads, deploys and rollbacks a minute; 0 is no limit of their own', parse: perMinute },
  CP_SIGN_IN_LIMIT: {
    default: '60',
    help: 'Sign-ins a minute from one address, and as many requests with tokens that nobody has; 0 is no limit of their own',
    parse: perMinute,
  },
  CP_CORS_ORIGINS: {
    default: '',
    help: 'Origins whose pages may call the API with a key, such as https://panel.example.com; cookies never work there',
    whenEmpty: '(none)',
    parse: parseOrigins,
  },
} satisfies SettingRows

export type HttpSettings = ValuesOf<typeof httpSettings>

/** The URL under which people reach the API, which all links use. */
export const publicUrlOf = ({ CP_PUBLIC_URL, CP_LISTEN }: { CP_PUBLIC_URL: string | undefined; CP_LISTEN: Address }): string =>
  CP_PUBLIC_URL ?? `http://localhost:${CP_LISTEN.port}`
