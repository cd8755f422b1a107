import { Value } from '@sinclair/typebox/value'
import { Email } from '../../../shared/auth.ts'
import { parseIp, parseIpRange } from '../../../shared/ip-address.ts'
import { formatAddress, parseAddress } from '../network/address.ts'
import { trustedProxies } from '../network/trusted-proxies.ts'

// Each parser throws an Error whose message ends the sentence that begins with the setting's name.

export const optionalText = (value: string): string | undefined => (value === '' ? undefined : value)
export const list = (value: string): string[] =>
  value
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')

export function parsePublicUrl(value: string): string | undefined {
  if (value === '') return undefined
  const url = URL.canParse(value) ? new URL(value) : undefined
  if (url === undefined || !['http:', 'https:'].includes(url.protocol)) throw new Error(`"${value}" is not an http or https URL`)
  return url.href.replace(/\/+$/, '')
}

export function parseDirectory(value: string): string | undefined {
  if (value === 'off') return undefined
  if (!URL.canParse(value) || new URL(value).protocol !== 'https:') throw new Error(`"${value}" is not an https URL, and not "off"`)
  return new URL(value).href
}

export function parseEmail(value: string): string {
  if (!Value.Check(Email, value)) throw new Error(`"${value}" is not an e-mail address, such as ada@example.com`)
  return value
}

/** Exact origins: `*` would let every page of the world act with a key that its visitor pastes there. */
export function parseOrigins(value: string): string[] {
  const origins = list(value)
  const wrong = origins.find((origin) => !/^https?:/.test(origin) || !URL.canParse(origin) || new URL(origin).origin !== origin)
  if (wrong === undefined) return origins
  throw new Error(`"${wrong}" is not an origin; name each as a browser sends it, without a path, such as https://panel.example.com`)
}

export function parseRanges(value: string): string[] {
  const cidrs = list(value)
  const wrong = cidrs.find((cidr) => parseIpRange(cidr) === undefined)
  if (wrong !== undefined) throw new Error(`"${wrong}" is not an address or range, such as 10.0.0.0/8`)
  return cidrs
}

export function parseProxies(value: string): string[] {
  const cidrs = list(value)
  trustedProxies(cidrs)
  return cidrs
}

export function parseAddresses(value: string): string[] {
  const addresses = list(value)
  const wrong = addresses.find((address) => parseIp(address) === undefined)
  if (wrong !== undefined) throw new Error(`"${wrong}" is not an IP address`)
  return addresses
}

/** In the form that node:dns takes. A name server is given by address: its name could not be looked up. */
export function parseResolver(value: string): string | undefined {
  if (value === '') return undefined
  const address = parseAddress(value)
  if (parseIp(address.host) === undefined) throw new Error(`"${value}" does not name a server by its address, such as 127.0.0.53:53`)
  return formatAddress(address)
}

export function parseDomain(value: string): string {
  if (!/^[a-z0-9]([a-z0-9.-]{0,200}[a-z0-9])?$/.test(value)) throw new Error(`"${value}" is not a domain name in lower case`)
  return value
}

export function oneOf<const T extends readonly string[]>(values: T): (value: string) => T[number] {
  return (value) => {
    const found = values.find((candidate) => candidate === value)
    if (found === undefined) throw new Error(`"${value}" is not one of ${values.filter((v) => v !== '').join(', ')}`)
    return found
  }
}

export function integer(min: number, max: number): (value: string) => number {
  return (value) => {
    const number = Number(value)
    if (!/^\d+$/.test(value) || number < min || number > max) throw new Error(`"${value}" is not a whole number from ${min} to ${max}`)
    return number
  }
}
