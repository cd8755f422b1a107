/**
 * The addresses of one installation: a /16 of its own, of which `.0.1` is the host as instances see it, the rest of `.0` are
 * ports of the host that are opened to them, the rest of the lower half are services (an address that stays as long as the service does), and the upper half are instances (an address for one life each).
 */
export interface Subnet {
  cidr: string
  prefix: string
}

const FIRST_HOST_SERVICE = 2
const FIRST_VIRTUAL = 256
const FIRST_INSTANCE = 32_768
const LAST_INSTANCE = 65_534

export const INSTANCE_ADDRESSES = LAST_INSTANCE - FIRST_INSTANCE

export function parseSubnet(text: string): Subnet {
  const subnet = subnetIn(text)
  if (subnet === undefined) throw new Error(`"${text}" is not a network of 65536 addresses, such as 10.201.0.0/16`)
  return subnet
}

export const isSubnet = (text: string): boolean => subnetIn(text) !== undefined

function subnetIn(text: string): Subnet | undefined {
  const [, first, second] = /^(\d{1,3})\.(\d{1,3})\.0\.0\/16$/.exec(text) ?? []
  if (first === undefined || second === undefined || Number(first) < 1 || Number(first) > 223 || Number(second) > 255) return undefined
  return { cidr: text, prefix: `${Number(first)}.${Number(second)}` }
}

export const gatewayOf = (subnet: Subnet): string => addressAt(subnet, 1)

export const virtualAddress = (subnet: Subnet, serviceNumber: number): string =>
  addressAt(subnet, FIRST_VIRTUAL + (serviceNumber % (FIRST_INSTANCE - FIRST_VIRTUAL)))

export const hostServiceAddress = (subnet: Subnet, index: number): string => addressAt(subnet, FIRST_HOST_SERVICE + index)

export const instanceAddress = (subnet: Subnet, index: number): string =>
  addressAt(subnet, FIRST_INSTANCE + 1 + (index % INSTANCE_ADDRESSES))

export function hexOf(address: string): string {
  const [, , third, fourth] = address.split('.').map(Number)
  return (((third ?? 0) << 8) | (fourth ?? 0)).toString(16).padStart(4, '0')
}

const addressAt = ({ prefix }: Subnet, offset: number): string => `${prefix}.${offset >> 8}.${offset & 255}`

/** Networks to choose from, the likeliest to be free first: seldom used by clouds, homes, Docker and Kubernetes. */
export const candidateSubnets: Subnet[] = Array.from({ length: 190 }, (_, index) => {
  const second = index < 54 ? 201 + index : 200 - (index - 54)
  return parseSubnet(`10.${second}.0.0/16`)
})

/** The default route, which has all addresses, takes none of them. */
export function isTaken({ prefix }: Subnet, networks: readonly string[]): boolean {
  const first = toNumber(`${prefix}.0.0`)
  return networks.some((network) => {
    const [address = '', bits = '32'] = network.split('/')
    if (!/^\d+\.\d+\.\d+\.\d+$/.test(address) || bits === '0') return false
    const shift = 2 ** (32 - Math.min(Number(bits), 16))
    return Math.floor(toNumber(address) / shift) === Math.floor(first / shift)
  })
}

const toNumber = (address: string): number => address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)
