/**
 * Services and datastores are parted when they were in one network and are not after a change. That is told before it is done where a
 * service names the other as a host in one of its variables, or has it say one. Who is reached by an address alone is not seen.
 */
import { hostsIn } from '../../../../shared/named-hosts.ts'
import type { EnvEntry } from '../../services/env-store.ts'

/** A service or datastore with its networks before and after a change, and the names at which others of its network reach it. */
export interface Member {
  id: string
  environmentId: string | null
  name: string
  hosts: readonly string[]
  before: string
  after: string
}

export interface PartedLink {
  user: Member
  key: string
  used: Member
}

/** For each member that is parted from others, those that it can reach by name now and could not after the change. */
export function partings(members: readonly Member[]): { member: Member; parted: Member[] }[] {
  return [...Map.groupBy(members, ({ before }) => before).values()].flatMap((together) => {
    const parts = [...Map.groupBy(together, ({ after }) => after)]
    return parts.flatMap(([after, part]) => {
      const parted = parts.filter(([other]) => other !== after).flatMap(([, others]) => others.filter(({ hosts }) => hosts.length > 0))
      return parted.length === 0 ? [] : part.map((member) => ({ member, parted }))
    })
  })
}

type Naming = Pick<EnvEntry, 'key' | 'value' | 'from'>

/** By which variables a member names those from which it would be parted; each of them once. */
export function linksTo(user: Member, parted: readonly Member[], variables: readonly Naming[]): PartedLink[] {
  const byHost = new Map(parted.flatMap((used) => used.hosts.map((host) => [host, used] as const)))
  const links = new Map<string, PartedLink>()
  for (const variable of variables)
    for (const host of namedBy(variable)) {
      const used = byHost.get(host)
      if (used !== undefined && !links.has(used.id)) links.set(used.id, { user, key: variable.key, used })
    }
  return [...links.values()]
}

const namedBy = ({ from, ...variable }: Naming): string[] => (from === undefined ? hostsIn(variable) : [from.datastoreId])
