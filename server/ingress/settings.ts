import { type Address, parseAddress } from '../platform/network/address.ts'
import { integer, oneOf } from '../platform/settings/parsers.ts'
import type { SettingRows, ValuesOf } from '../platform/settings/setting.ts'

const optionalAddress = (value: string): Address | undefined => (value === '' ? undefined : parseAddress(value))

export const ingressSettings = {
  CP_INGRESS_HTTP: { default: '127.0.0.1:8080', flag: '--ingress', help: 'Address at which services are reached', parse: parseAddress },
  CP_INGRESS_HTTPS: {
    default: '',
    flag: '--ingress-tls',
    help: 'Address at which services are reached over https; empty is none',
    whenEmpty: '(none)',
    parse: optionalAddress,
  },
  CP_INGRESS_POSTGRES: {
    default: '',
    flag: '--ingress-postgres',
    help: 'Address at which Postgres databases are reached from outside, by TLS; empty is none',
    whenEmpty: '(none)',
    parse: optionalAddress,
  },
  CP_INGRESS_KEY_VALUE: {
    default: '',
    flag: '--ingress-key-value',
    help: 'Address at which key-value stores are reached from outside, by TLS; empty is none',
    whenEmpty: '(none)',
    parse: optionalAddress,
  },
  CP_INGRESS_CONNECTIONS_PER_ADDRESS: {
    default: '1000',
    help: 'Connections to services, and as many to databases, that one client address, or one IPv6 /64, may have at a time; 0 is no limit, and trusted proxies have none',
    parse: integer(0, 1e6),
  },
  CP_ACCESS_LOG: { default: 'on', help: 'Log a line for each request to a service: on or off', parse: oneOf(['on', 'off']) },
} satisfies SettingRows

export type IngressSettings = ValuesOf<typeof ingressSettings>
