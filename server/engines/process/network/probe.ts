import { messageOf } from '../../../../shared/error.ts'
import { runProcess } from '../../../platform/process/spawn.ts'
import { systemEnv } from '../../../platform/process/system-tools.ts'
import { batchOf } from './tools.ts'

export type NetworkAbility =
  | {
      hasTimeouts: boolean
      hasCounts: boolean
      blockedBy?: string
    }
  | { reason: string }

const LINK = ['link add probe0 type veth peer name probe1', 'link set lo up']

const RULES = `table inet probe {
chain a { type filter hook forward priority filter; policy accept;
ct state established accept
fib saddr . iif oif missing drop
reject with icmpx admin-prohibited
}
chain b { type nat hook prerouting priority dstnat; policy accept;
dnat ip to numgen random mod 2 map { 0 : 10.0.0.1, 1 : 10.0.0.2 }
}
chain c { type nat hook postrouting priority srcnat; policy accept;
masquerade
}
}
`

const TIMEOUTS = `table inet probe {
ct timeout brief { protocol tcp; policy = { time_wait : 2 }; }
chain a { type filter hook prerouting priority mangle; policy accept;
ct timeout set "brief"
}
}
`

const COUNTS = `table inet probe {
set begun { type ipv4_addr; size 65535; flags dynamic; }
chain a { type filter hook forward priority filter; policy accept;
ct state new add @begun { ip saddr ct count over 8192 } drop
}
}
`

export async function probeNetwork(): Promise<NetworkAbility> {
  const inNew = (argv: string[], input: string) => attempt(['unshare', '--net', ...argv], input)
  const [link, entering, rules, timeouts, counts, blockedBy] = await Promise.all([
    inNew(['ip', '-batch', '-'], batchOf(LINK)),
    attempt(['nsenter', '--net=/proc/self/ns/net', 'true'], ''),
    inNew(['nft', '-f', '-'], RULES),
    inNew(['nft', '-f', '-'], TIMEOUTS),
    inNew(['nft', '-f', '-'], COUNTS),
    findForwardDrop(),
  ])
  const problem = link ?? entering ?? rules
  if (problem !== undefined) return { reason: `${problem}; install iproute2 and nftables, and in a container allow CAP_NET_ADMIN` }
  return { hasTimeouts: timeouts === undefined, hasCounts: counts === undefined, ...(blockedBy !== undefined && { blockedBy }) }
}

async function attempt(argv: readonly string[], input: string): Promise<string | undefined> {
  try {
    const { exitCode, stderr } = await runProcess(argv, { env: systemEnv, input })
    return exitCode === 0 ? undefined : stderr.trim().split('\n', 1)[0]
  } catch (error) {
    return messageOf(error)
  }
}

async function findForwardDrop(): Promise<string | undefined> {
  for (const chain of forwardDrops(await list('chains'))) {
    if (!tellsOfOurLinks(await list('table', chain.family, chain.table))) return `${chain.family} ${chain.table} ${chain.name}`
  }
  return undefined
}

/**
 * Heads of chains, or one table with its rules. The whole set of rules is never read: nft begins it anew whenever somebody changes a table
 * meanwhile. A machine without nft has a line of its own elsewhere, and a table that has just gone drops nothing.
 */
async function list(...what: string[]): Promise<Listing> {
  try {
    const { exitCode, stdout } = await runProcess(['nft', '-j', 'list', ...what], { env: systemEnv })
    return exitCode === 0 ? JSON.parse(stdout) : { nftables: [] }
  } catch {
    return { nftables: [] }
  }
}

interface Chain {
  family: string
  table: string
  name: string
  hook?: string
  policy?: string
}

interface Listing {
  nftables: { chain?: Chain; rule?: { expr: unknown } }[]
}

/** Chains of other firewalls (Docker's, ufw's) that drop forwarded packets; the form is libnftables-json(5). */
export const forwardDrops = ({ nftables }: Listing): Chain[] =>
  nftables.flatMap(({ chain }) => (chain?.hook === 'forward' && chain.policy === 'drop' ? [chain] : []))

export const tellsOfOurLinks = ({ nftables }: Listing): boolean =>
  nftables.some(({ rule }) => JSON.stringify(rule?.expr ?? '').includes('"cpd'))
