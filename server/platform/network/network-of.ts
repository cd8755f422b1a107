const GROUPS = 8
const NETWORK_GROUPS = 4

/** Whom an address belongs to: itself in IPv4, its /64 in IPv6, where every customer has as many addresses as he likes. */
export function networkOf(address: string): string {
  if (!address.includes(':')) return address
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped !== undefined) return mapped
  const [head = '', tail] = address.replace(/%.*$/, '').toLowerCase().split('::')
  const [first, last] = [groupsOf(head), groupsOf(tail)]
  const zeros = tail === undefined ? 0 : Math.max(0, GROUPS - first.length - last.length)
  return `${[...first, ...Array<string>(zeros).fill('0'), ...last].slice(0, NETWORK_GROUPS).join(':')}::/64`
}

const groupsOf = (text: string | undefined): string[] => (text === undefined || text === '' ? [] : text.split(':'))
