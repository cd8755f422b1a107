import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { parseIp } from '../../../shared/ip-address.ts'

export interface Address {
  host: string
  port: number
}

const LOOPBACK_V6 = 1n
const HostPort = Type.Object({ host: Type.String({ minLength: 1 }), port: Type.Integer({ minimum: 0, maximum: 65_535 }) })

export function parseAddress(value: string): Address {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:]+)):(\d{1,5})$/.exec(value)
  const address = { host: match?.[1] ?? match?.[2] ?? '', port: Number(match?.[3]) }
  if (!Value.Check(HostPort, address)) throw new Error(`"${value}" is not host:port, such as 127.0.0.1:8400`)
  return address
}

export const formatAddress = ({ host, port }: Address): string => `${host.includes(':') ? `[${host}]` : host}:${port}`

/** Whether a host, IPv6 without brackets and in any spelling, is this machine itself; nobody is asked about names. */
export const isLoopbackHost = (host: string): boolean =>
  host === 'localhost' || /^127\.\d+\.\d+\.\d+$/.test(host) || parseIp(host) === LOOPBACK_V6

export const isLoopback = ({ host }: Address): boolean => isLoopbackHost(host)
