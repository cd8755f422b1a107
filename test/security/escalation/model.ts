/**
 * What one workspace's people, keys, invites, roles and places are, and what the rules say of each move, written without a look at the server.
 * A move gives the status that the server is to answer; a move that succeeds changes the state.
 */
import { builtInRoles, type Permission, workspaceWide } from '../../../shared/permission.ts'

/** Ids of services, environments and projects; null is the whole workspace. */
export type Scope = readonly string[] | null

export interface Holder {
  role: string
  scope: Scope
}

export interface Key extends Holder {
  /** The user whose membership it hangs on. */
  madeBy: string
}

export interface Invite extends Holder {
  /** Who may accept it. */
  user: string
  inviter: Subject
}

/** Who acts: a person with a session, or a key. */
export interface Subject {
  kind: 'user' | 'key'
  id: string
}

export interface State {
  /** Custom roles by id. */
  roles: Map<string, { name: string; permissions: readonly Permission[] }>
  members: Map<string, Holder>
  keys: Map<string, Key>
  invites: Map<string, Invite>
  /** The environment that each service is in. */
  services: Map<string, string | null>
  environments: Map<string, { project: string; isProtected: boolean }>
  /** Users whose session was ended; it is begun anew between moves. */
  signedOut: Set<string>
}

export const emptyState = (): State => ({
  roles: new Map(),
  members: new Map(),
  keys: new Map(),
  invites: new Map(),
  services: new Map(),
  environments: new Map(),
  signedOut: new Set(),
})

export const copyOf = (state: State): State => ({
  roles: new Map(state.roles),
  members: new Map(state.members),
  keys: new Map(state.keys),
  invites: new Map(state.invites),
  services: new Map(state.services),
  environments: new Map(state.environments),
  signedOut: new Set(state.signedOut),
})

/** What a role of this name holds; undefined when there is none. */
export function permissionsOfRole(state: State, name: string): readonly Permission[] | undefined {
  if (name in builtInRoles) return builtInRoles[name as keyof typeof builtInRoles].permissions
  return [...state.roles.values()].find((role) => role.name === name)?.permissions
}

export const holderOf = (state: State, { kind, id }: Subject): Holder | undefined => (kind === 'user' ? state.members : state.keys).get(id)

/** What somebody may do now; undefined for who is neither member nor key. */
export function heldBy(state: State, subject: Subject): ReadonlySet<Permission> | undefined {
  const holder = holderOf(state, subject)
  if (holder === undefined) return undefined
  const all = permissionsOfRole(state, holder.role) ?? []
  const { scope } = holder
  if (scope === null) return new Set(all)
  const mayCreate = scope.some((one) => !isService(one))
  return new Set(all.filter((permission) => !workspaceWide.has(permission) || (mayCreate && creations.has(permission))))
}

/** Who is confined to environments can be let create in them. */
const creations: ReadonlySet<Permission> = new Set(['services.create', 'datastores.create'])

const isService = (id: string): boolean => id.startsWith('srv-')

/** The environments that a scope names, itself or by their project. */
export const reachOf = ({ environments }: State, scope: readonly string[]): Set<string> =>
  new Set([...environments].filter(([id, { project }]) => scope.includes(id) || scope.includes(project)).map(([id]) => id))

/** Whether a scope lets its holder into an environment as such; null is outside of all. */
export const isPlaceWithin = (state: State, scope: Scope, environment: string | null): boolean =>
  scope === null || (environment !== null && reachOf(state, scope).has(environment))

/** Whether a scope lets its holder at a service: it is named, or it is where the scope reaches. */
export const isServiceWithin = (state: State, scope: Scope, service: string): boolean =>
  scope === null || scope.includes(service) || isPlaceWithin(state, scope, state.services.get(service) ?? null)

/** Whether a scope lets its holder see an environment: one it reaches, or one of a service that it names. */
export const isPlaceSeen = (state: State, scope: Scope, environment: string): boolean =>
  isPlaceWithin(state, scope, environment) || scope?.some((id) => state.services.get(id) === environment) === true

/** The services that somebody can touch; undefined for who is neither member nor key. */
export function reachedBy(state: State, subject: Subject): ReadonlySet<string> | undefined {
  const holder = holderOf(state, subject)
  return holder && new Set([...state.services.keys()].filter((service) => isServiceWithin(state, holder.scope, service)))
}

/** Whether the subject may hand out a role: they hold all of it, and are confined to nothing. */
export function mayHandOut(state: State, subject: Subject, permissions: readonly Permission[]): boolean {
  const held = heldBy(state, subject)
  return holderOf(state, subject)?.scope === null && permissions.every((permission) => held?.has(permission))
}

const isAdministrator = (holder: Holder | undefined): boolean => holder?.role === 'admin' && holder.scope === null

export const administratorsIn = ({ members }: State): number => [...members.values()].filter(isAdministrator).length

export const isLastAdministrator = (state: State, user: string): boolean =>
  isAdministrator(state.members.get(user)) && administratorsIn(state) === 1

/** Takes a member out, with everything that hangs on them. */
export function takeOut(state: State, user: string): void {
  state.members.delete(user)
  const keys = [...state.keys].filter(([, { madeBy }]) => madeBy === user).map(([id]) => id)
  for (const id of keys) state.keys.delete(id)
  for (const [id, { inviter }] of [...state.invites]) {
    if ((inviter.kind === 'user' && inviter.id === user) || (inviter.kind === 'key' && keys.includes(inviter.id))) state.invites.delete(id)
  }
}

/** Takes an environment out of every scope; one of nothing else is empty then. */
export function dropEnvironment(state: State, id: string): void {
  state.environments.delete(id)
  const dropIn = <H extends Holder>(holders: Map<string, H>) => {
    for (const [key, holder] of holders)
      if (holder.scope !== null) holders.set(key, { ...holder, scope: holder.scope.filter((one) => one !== id) })
  }
  dropIn(state.members)
  dropIn(state.keys)
  dropIn(state.invites)
}

/** Everything as lines, to be compared with what the database holds. */
export function linesOf({ roles, members, keys, invites, services, environments }: State): string[] {
  const held = ({ role, scope }: Holder) => `${role} ${scope === null ? 'everywhere' : `in ${[...scope].sort().join(',')}`}`
  return [
    ...[...roles].map(([id, { name, permissions }]) => `role ${id} ${name}: ${[...permissions].sort().join(',')}`),
    ...[...members].map(([id, holder]) => `member ${id}: ${held(holder)}`),
    ...[...keys].map(([id, key]) => `key ${id} of ${key.madeBy}: ${held(key)}`),
    ...[...invites].map(([id, invite]) => `invite ${id} to ${invite.user} by ${invite.inviter.id}: ${held(invite)}`),
    ...[...services].map(([id, environment]) => `service ${id} in ${environment ?? 'none'}`),
    ...[...environments].map(([id, { project }]) => `environment ${id} of ${project}`),
  ].sort()
}

const subjectsOf = ({ members, keys }: State): Subject[] => [
  ...[...members.keys()].map((id): Subject => ({ kind: 'user', id })),
  ...[...keys.keys()].map((id): Subject => ({ kind: 'key', id })),
]

/** Who came to reach which services from one state to the next. */
export function reachGains(before: State, after: State): { subject: Subject; services: string[] }[] {
  return subjectsOf(after).flatMap((subject) => {
    const had = reachedBy(before, subject)
    const services = [...(reachedBy(after, subject) ?? [])].filter((service) => !had?.has(service))
    return services.length === 0 ? [] : [{ subject, services }]
  })
}

/** Who gained what from one state to the next: `[subject, permission]`. */
export function gains(before: State, after: State): { subject: Subject; permissions: Permission[] }[] {
  return subjectsOf(after).flatMap((subject) => {
    const had = heldBy(before, subject)
    const permissions = [...(heldBy(after, subject) ?? [])].filter((permission) => !had?.has(permission))
    return permissions.length === 0 ? [] : [{ subject, permissions }]
  })
}
