/**
 * Services are parted when they were in one network and are not after a change. That is told before it is done where one of the two is
 * named by the other: where a variable of it has the other's private name as a word. Who is reached by an address alone is not seen.
 */

/** A service with its networks before and after a change, and the names at which others of its network reach it. */
export interface Member {
  id: string
  environmentId: string | null
  name: string
  hosts: readonly string[]
  before: string
  after: string
}

export interface Variable {
  key: string
  value: string
}

export interface PartedLink {
  user: Member
  key: string
  used: Member
}

/** The beginning of a value that is looked at, in characters: a name in a longer one is no address. */
const LOOKED_AT = 65_536

/** Members that one can reach now and could not after the change. */
export const partedFrom = (member: Member, all: readonly Member[]): Member[] =>
  all.filter((other) => other.before === member.before && other.after !== member.after && other.hosts.length > 0)

/** By which variables a member names those from which it would be parted; each of them once. */
export function linksTo(user: Member, parted: readonly Member[], variables: readonly Variable[]): PartedLink[] {
  const byHost = new Map(parted.flatMap((used) => used.hosts.map((host) => [host, used] as const)))
  const links = new Map<string, PartedLink>()
  for (const { key, value } of variables)
    for (const host of hostsIn(value)) {
      const used = byHost.get(host)
      if (used !== undefined && !links.has(used.id)) links.set(used.id, { user, key, used })
    }
  return [...links.values()]
}

/** Words of a value that may be host names: `api` of `http://me@api:10000/v1`, and of `api.example.com` the whole. */
export const hostsIn = (value: string): string[] =>
  value
    .slice(0, LOOKED_AT)
    .toLowerCase()
    .split(/[^a-z0-9._-]+/)
