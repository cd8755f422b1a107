import { isIP } from 'node:net'

/** Names that mean something on one machine or network only (RFC 2606, 6761, 6762, 8375, 7686 and ICANN's `.internal`). */
const reservedSuffixes = [
  'localhost',
  'test',
  'example',
  'invalid',
  'local',
  'internal',
  'home.arpa',
  'lan',
  'home',
  'corp',
  'intranet',
  'onion',
  'example.com',
  'example.net',
  'example.org',
]

/** Returns whether an authority may certify a name. A private one, with a root of its own, certifies what its resolver knows; none certifies localhost. */
export function isCertifiable(name: string, authority: 'public' | 'private'): boolean {
  if (isIP(name) !== 0 || name.startsWith('[') || endsIn(name, 'localhost')) return false
  return authority === 'private' || (name.includes('.') && !reservedSuffixes.some((suffix) => endsIn(name, suffix)))
}

const endsIn = (name: string, suffix: string): boolean => name === suffix || name.endsWith(`.${suffix}`)

/** Returns whether a certificate for `held` is good for `host`; `*.` stands for exactly one label. */
export const covers = (held: string, host: string): boolean => held === host || (held.startsWith('*.') && held === wildcardOf(host))

export const wildcardOf = (host: string): string => `*${host.slice(host.indexOf('.'))}`
