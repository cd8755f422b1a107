/**
 * The rules by which instances reach what they may, as text for `nft -f -` (nft(8)). One table for an installation, in the host's network
 * namespace; no other table is touched.
 *
 *   an instance   → its siblings (instances of the same private network), at their own addresses
 *                 → a service's virtual address, which becomes that of one of its instances; afterwards the line above decides
 *                 → ports of this machine that the operator has opened, each at an address of its own
 *                 → the ports that the ingress serves the world at, and a name server of this machine
 *                 → the world, under the host's address; never the link-local network, where clouds keep their secrets
 *   the host      → every instance, but only as the user that cpd runs as
 *   anybody else  → nothing
 *
 * What is refused is refused at once with an answer, so that nobody waits for a timeout.
 */

import { createHash } from 'node:crypto'
import { gatewayOf, hexOf, hostServiceAddress, type Subnet } from './addresses.ts'
import type { HostService } from './host-services.ts'

export interface Rules {
  table: string
  linkPrefix: string
  subnet: Subnet
  ownUid: number
  publicPorts: readonly number[]
  localResolvers: readonly string[]
  hasTimeouts: boolean
  connectionsPerInstance: number | undefined
  hostServices: readonly HostService[]
}

export type Members = ReadonlyMap<string, string>
export type Destinations = ReadonlyMap<string, readonly string[]>

/** A name for nftables, which takes no dashes, for an id of any form. */
export const networkChain = (networkId: string): string => `net_${createHash('sha256').update(networkId).digest('hex').slice(0, 16)}`

const serviceChain = (virtual: string): string => `svc_${hexOf(virtual)}`

export function renderTable(rules: Rules, members: Members, destinations: Destinations): string {
  const { table } = rules
  const networks = [...new Set(members.values())]
  return [
    `table inet ${table} {}`,
    `delete table inet ${table}`,
    `table inet ${table} {`,
    ...frame(rules),
    '}',
    ...networks.flatMap((networkId) => addNetwork(table, networkId)),
    ...[...members].flatMap(([address, networkId]) => addMember(table, address, networkId)),
    ...[...destinations].flatMap(([virtual, targets]) => setDestination(table, virtual, targets)),
    '',
  ].join('\n')
}

export function addNetwork(table: string, networkId: string): string[] {
  const name = networkChain(networkId)
  return [
    `add set inet ${table} ${name} { type ipv4_addr; }`,
    `add chain inet ${table} ${name}`,
    `add rule inet ${table} ${name} ip daddr @${name} accept`,
  ]
}

export function removeNetwork(table: string, networkId: string): string[] {
  const name = networkChain(networkId)
  return [`flush chain inet ${table} ${name}`, `delete chain inet ${table} ${name}`, `delete set inet ${table} ${name}`]
}

export const addMember = (table: string, address: string, networkId: string): string[] => [
  `add element inet ${table} ${networkChain(networkId)} { ${address} }`,
  `add element inet ${table} members { ${address} : jump ${networkChain(networkId)} }`,
  `add element inet ${table} itself { ${address} . ${address} }`,
]

export const removeMember = (table: string, address: string, networkId: string): string[] => [
  `delete element inet ${table} itself { ${address} . ${address} }`,
  `delete element inet ${table} members { ${address} }`,
  `delete element inet ${table} ${networkChain(networkId)} { ${address} }`,
]

/** Connections that are open keep their instance; new ones go to these, each to any of them. */
export function setDestination(table: string, virtual: string, targets: readonly string[]): string[] {
  const chain = serviceChain(virtual)
  const chosen = targets.map((address, index) => `${index} : ${address}`).join(', ')
  const to = targets.length === 1 ? targets[0] : `numgen random mod ${targets.length} map { ${chosen} }`
  return [
    `add chain inet ${table} ${chain}`,
    `flush chain inet ${table} ${chain}`,
    ...(targets.length === 0 ? [] : [`add rule inet ${table} ${chain} dnat ip to ${to}`]),
    `add element inet ${table} services { ${virtual} : goto ${chain} }`,
  ]
}

export const removeDestination = (table: string, virtual: string): string[] => [
  `delete element inet ${table} services { ${virtual} }`,
  `flush chain inet ${table} ${serviceChain(virtual)}`,
  `delete chain inet ${table} ${serviceChain(virtual)}`,
]

/** Nothing needs to be known of a connection that is over; by default the kernel remembers it for minutes, and takes no new ones when full. */
const TIMEOUTS =
  'ct timeout brief { protocol tcp; policy = { close : 1, time_wait : 2, last_ack : 10, close_wait : 60, fin_wait : 60, established : 86400 }; }'

/** Connections that an address has begun, be they answered or not. The kernel forgets those that are over at each look (nft(8), ct count). */
const COUNTED = 'set begun { type ipv4_addr; size 65535; flags dynamic; }'

function countedIn({ connectionsPerInstance: most }: Rules): string[] {
  return most === undefined ? [] : [`ct state new add @begun { ip saddr ct count over ${most} } goto refuse`]
}

function frame(rules: Rules): string[] {
  const { subnet, linkPrefix, publicPorts } = rules
  const toIngress = publicPorts.length > 0 ? [`tcp dport { ${[...new Set(publicPorts)].join(', ')} }`] : []
  const ours = `"${linkPrefix}*"`
  const brief = rules.hasTimeouts ? [...toIngress, `iifname ${ours}`].map((what) => `${what} ct timeout set "brief"`) : []
  return [
    ...(rules.hasTimeouts ? [TIMEOUTS] : []),
    COUNTED,
    'map members { type ipv4_addr : verdict; }',
    'map services { type ipv4_addr : verdict; }',
    'set itself { type ipv4_addr . ipv4_addr; }',
    'set never { type ipv4_addr; flags interval; elements = { 0.0.0.0/8, 127.0.0.0/8, 169.254.0.0/16, 224.0.0.0/3 } }',
    ...chain('refuse', ['meta l4proto tcp reject with tcp reset', 'reject with icmpx admin-prohibited']),
    ...chain('from_instance', [
      'ct state established,related accept',
      'ct state invalid drop',
      ...countedIn(rules),
      `ip daddr ${subnet.cidr} ip saddr vmap @members`,
      `ip daddr ${subnet.cidr} goto refuse`,
      'ip daddr @never goto refuse',
      'accept',
    ]),
    ...hook('arriving', 'prerouting priority raw', [
      `iifname ${ours} meta nfproto ipv6 drop`,
      `iifname ${ours} ip daddr 127.0.0.0/8 drop`,
      `iifname ${ours} fib saddr . iif oif missing drop`,
    ]),
    ...hook('remembered', 'prerouting priority mangle', brief),
    ...hook(
      'to_service',
      'prerouting priority dstnat',
      [...resolverRedirect(rules), ...toHostServices(rules), `iifname ${ours} ip daddr vmap @services`],
      'nat',
    ),
    ...hook('forwarded', 'forward priority filter', [
      `iifname ${ours} jump from_instance`,
      `oifname ${ours} ct state established,related accept`,
      `oifname ${ours} goto refuse`,
    ]),
    ...hook('to_host', 'input priority filter', [
      `iifname != ${ours} accept`,
      'ct state established,related accept',
      ...countedIn(rules),
      ...toIngress.map((what) => `${what} accept`),
      ...resolverAccess(rules),
      ...rules.hostServices.map(({ address, port }) => `ct status dnat ip daddr ${address} tcp dport ${port} accept`),
      'goto refuse',
    ]),
    ...arrivingAtHostServices(rules),
    ...hook('from_host', 'output priority filter', [
      `oifname != ${ours} accept`,
      ...(rules.hasTimeouts ? ['ct timeout set "brief"'] : []),
      `ct state new meta skuid != ${rules.ownUid} goto refuse`,
    ]),
    ...hook(
      'leaving',
      'postrouting priority srcnat',
      // One that reaches itself by its service's name must not see its own address as the peer's.
      ['ip saddr . ip daddr @itself masquerade', `ip saddr ${subnet.cidr} oifname != ${ours} masquerade`],
      'nat',
    ),
  ]
}

const isLoopback = (address: string): boolean => address.startsWith('127.')

function resolverRedirect({ localResolvers, linkPrefix, subnet }: Rules): string[] {
  const loopback = localResolvers.find(isLoopback)
  if (loopback === undefined) return []
  const asked = `iifname "${linkPrefix}*" ip daddr ${gatewayOf(subnet)}`
  return ['udp', 'tcp'].map((protocol) => `${asked} ${protocol} dport 53 dnat ip to ${loopback}`)
}

/** Members are in `itself`, each as a pair: builds are in no private network. */
const toHostServices = ({ hostServices, linkPrefix, subnet }: Rules): string[] =>
  hostServices.map(({ address, port }, index) => {
    const asked = `iifname "${linkPrefix}*" ip saddr . ip saddr @itself ip daddr ${hostServiceAddress(subnet, index)} tcp dport ${port}`
    return `${asked} dnat ip to ${address}`
  })

/** What listens on loopback hears from loopback: databases know no other clients there unless they are told. */
function arrivingAtHostServices({ hostServices, linkPrefix }: Rules): string[] {
  const rules = hostServices.flatMap(({ address, port }) =>
    isLoopback(address) ? [`iifname "${linkPrefix}*" ct status dnat ip daddr ${address} tcp dport ${port} snat ip to 127.0.0.1`] : [],
  )
  return rules.length === 0 ? [] : hook('as_from_host', 'input priority 100', rules, 'nat')
}

const resolverAccess = ({ localResolvers }: Rules): string[] =>
  localResolvers.flatMap((address) => ['udp', 'tcp'].map((protocol) => `ip daddr ${address} ${protocol} dport 53 accept`))

const chain = (name: string, lines: readonly string[]): string[] => [`chain ${name} {`, ...lines, '}']

const hook = (name: string, where: string, lines: readonly string[], type: 'filter' | 'nat' = 'filter'): string[] =>
  chain(name, [`type ${type} hook ${where}; policy accept;`, ...lines])
