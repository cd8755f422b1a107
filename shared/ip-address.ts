/** IPv4 stands where IPv6 maps it (`::ffff:a.b.c.d`, RFC 4291 section 2.5.5.2), so that a mapped address is the address it stands for. */
export interface IpRange {
  first: bigint
  /** How many first bits all its addresses share. */
  mask: bigint
}

const MAPPED = 0xffffn << 32n
const MAPPED_BITS = 96
const ALL_BITS = 128
const ALL_ONES = (1n << 128n) - 1n
const GROUPS = 8

/** An address as a number, or undefined when it is none. */
export function parseIp(text: string): bigint | undefined {
  if (text.includes(':')) return parseIpv6(text)
  const four = parseIpv4(text)
  return four === undefined ? undefined : MAPPED | four
}

/** A range written as an address or in CIDR form, such as `10.0.0.0/8` or `2001:db8::/32`; undefined when it is neither. */
export function parseIpRange(text: string): IpRange | undefined {
  const [address = '', prefix, ...rest] = text.split('/')
  const first = parseIp(address)
  if (first === undefined || rest.length > 0) return undefined
  const offset = address.includes(':') ? 0 : MAPPED_BITS
  const bits = offset + (prefix === undefined ? ALL_BITS - offset : Number(prefix))
  if ((prefix !== undefined && !/^\d{1,3}$/.test(prefix)) || bits > ALL_BITS) return undefined
  const mask = ALL_ONES ^ (ALL_ONES >> BigInt(bits))
  return { first: first & mask, mask }
}

/** Whether an address is in one of the ranges; what is no address is in none. */
export function isInRanges(text: string, ranges: readonly IpRange[]): boolean {
  const address = parseIp(text)
  return address !== undefined && ranges.some(({ first, mask }) => (address & mask) === first)
}

function parseIpv4(text: string): bigint | undefined {
  const match = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text)
  if (match === null) return undefined
  const parts = match.slice(1)
  // A leading zero is octal to some readers.
  if (parts.some((part) => Number(part) > 255 || (part.length > 1 && part.startsWith('0')))) return undefined
  return parts.reduce((sum, part) => (sum << 8n) | BigInt(part), 0n)
}

function parseIpv6(text: string): bigint | undefined {
  const plain = withoutDots(text)
  const halves = plain?.split('::') ?? []
  if (halves.length < 1 || halves.length > 2) return undefined
  const [head = [], tail = []] = halves.map((half) => (half === '' ? [] : half.split(':')))
  const missing = GROUPS - head.length - tail.length
  if (halves.length === 1 ? missing !== 0 : missing < 1) return undefined
  const groups = [...head, ...Array<string>(missing).fill('0'), ...tail]
  if (!groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return undefined
  return groups.reduce((sum, group) => (sum << 16n) | BigInt(`0x${group}`), 0n)
}

/** With its last two groups in hexadecimal, where they are written as an IPv4 address. */
function withoutDots(text: string): string | undefined {
  const last = text.slice(text.lastIndexOf(':') + 1)
  if (!last.includes('.')) return text
  const four = parseIpv4(last)
  return four === undefined ? undefined : `${text.slice(0, -last.length)}${(four >> 16n).toString(16)}:${(four & 0xffffn).toString(16)}`
}
