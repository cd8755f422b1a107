import type { Permission } from '../../../shared/permission.ts'
import {
  dropEnvironment,
  type Holder,
  heldBy,
  holderOf,
  isLastAdministrator,
  isPlaceSeen,
  isPlaceWithin,
  isServiceWithin,
  mayHandOut,
  permissionsOfRole,
  reachOf,
  type Scope,
  type State,
  type Subject,
  takeOut,
} from './model.ts'

/** One request, by somebody, as the model knows it. `made` is the id that the server gave to what came of it. */
export type Move = { by: Subject; made?: string } & (
  | { kind: 'createRole'; name: string; permissions: readonly Permission[] }
  | { kind: 'patchRole'; role: string; permissions: readonly Permission[] }
  | { kind: 'renameRole'; role: string; name: string }
  | { kind: 'deleteRole'; role: string }
  | { kind: 'changeMember'; user: string; role?: string; scope?: Scope }
  | { kind: 'removeMember'; user: string }
  | { kind: 'leave' }
  | { kind: 'invite'; user: string; role: string; scope: Scope }
  | { kind: 'deleteInvite'; invite: string }
  | { kind: 'accept'; invite: string }
  | { kind: 'createKey'; role: string; scope: Scope }
  | { kind: 'revokeKey'; key: string }
  | { kind: 'createService'; environment: string | null }
  | { kind: 'moveService'; service: string; to: string | null }
  | { kind: 'createEnvironment'; project: string }
  | { kind: 'deleteEnvironment'; environment: string }
)

type Of<K extends Move['kind']> = Extract<Move, { kind: K }>

const needed: Partial<Record<Move['kind'], Permission>> = {
  createRole: 'roles.manage',
  patchRole: 'roles.manage',
  renameRole: 'roles.manage',
  deleteRole: 'roles.manage',
  changeMember: 'team.manage',
  removeMember: 'team.manage',
  invite: 'team.manage',
  deleteInvite: 'team.manage',
  createKey: 'apikeys.manage',
  revokeKey: 'apikeys.manage',
  createService: 'services.create',
  moveService: 'services.update',
  createEnvironment: 'projects.manage',
  deleteEnvironment: 'projects.manage',
}

/** The status that the rules give to a move; the state is changed where it succeeds. */
export function apply(state: State, move: Move): number {
  const { by } = move
  if (move.kind === 'accept') return accept(state, move)
  if (by.kind === 'user' && state.signedOut.has(by.id)) return 401
  if (by.kind === 'key' && !state.keys.has(by.id)) return 401
  const held = heldBy(state, by)
  if (held === undefined) return 404
  const permission = needed[move.kind]
  if (permission !== undefined && !held.has(permission)) return 403
  return (outcomes[move.kind] as (state: State, move: Move) => number)(state, move)
}

const outcomes: { [K in Exclude<Move['kind'], 'accept'>]: (state: State, move: Of<K>) => number } = {
  createRole(state, { by, name, permissions, made = '' }) {
    if (!mayHandOut(state, by, permissions)) return 403
    if (isTaken(state, name)) return 409
    state.roles.set(made, { name, permissions })
    return 201
  },
  patchRole(state, { by, role, permissions }) {
    const before = state.roles.get(role)
    if (before === undefined) return 404
    if (!mayHandOut(state, by, before.permissions) || !mayHandOut(state, by, permissions)) return 403
    state.roles.set(role, { ...before, permissions })
    const makers = [...state.keys.values()].filter((key) => key.role === before.name).map(({ madeBy }) => madeBy)
    for (const [user, member] of state.members) if (member.role === before.name || makers.includes(user)) revokeKeysBeyond(state, user)
    return 200
  },
  renameRole(state, { by, role, name }) {
    const before = state.roles.get(role)
    if (before === undefined) return 404
    if (!mayHandOut(state, by, before.permissions)) return 403
    if (isTaken(state, name, role)) return 409
    state.roles.set(role, { ...before, name })
    const rename = <H extends Holder>(holders: Map<string, H>) => {
      for (const [id, holder] of holders) if (holder.role === before.name) holders.set(id, { ...holder, role: name })
    }
    rename(state.members)
    rename(state.keys)
    rename(state.invites)
    return 200
  },
  deleteRole(state, { by, role }) {
    const before = state.roles.get(role)
    if (before === undefined) return 404
    if (!mayHandOut(state, by, before.permissions)) return 403
    const holders: Holder[] = [...state.members.values(), ...state.keys.values(), ...state.invites.values()]
    if (holders.some((holder) => holder.role === before.name)) return 409
    state.roles.delete(role)
    return 204
  },
  changeMember(state, { by, user, role, scope }) {
    const member = state.members.get(user)
    if (member === undefined) return 404
    if (!mayHandOut(state, by, permissionsOfRole(state, member.role) ?? [])) return 403
    if (role !== undefined) {
      const refused = refusalOfRole(state, by, role)
      if (refused !== undefined) return refused
    }
    if (!isKnown(state, scope)) return 404
    const changed = { role: role ?? member.role, scope: scope === undefined ? member.scope : scope }
    const staysAdministrator = changed.role === 'admin' && changed.scope === null
    if (!staysAdministrator && isLastAdministrator(state, user)) return 409
    state.members.set(user, changed)
    revokeKeysBeyond(state, user)
    return 200
  },
  removeMember(state, { by, user }) {
    const member = state.members.get(user)
    if (member === undefined) return 404
    if (!mayHandOut(state, by, permissionsOfRole(state, member.role) ?? [])) return 403
    if (isLastAdministrator(state, user)) return 409
    takeOut(state, user)
    state.signedOut.add(user)
    return 204
  },
  leave(state, { by }) {
    if (by.kind === 'key') return 403
    if (isLastAdministrator(state, by.id)) return 409
    takeOut(state, by.id)
    return 204
  },
  invite(state, { by, user, role, scope, made = '' }) {
    const refused = refusalOfRole(state, by, role)
    if (refused !== undefined) return refused
    if (!isKnown(state, scope)) return 404
    if (state.members.has(user)) return 409
    if ([...state.invites.values()].some((invite) => invite.user === user)) return 409
    state.invites.set(made, { user, role, scope, inviter: by })
    return 201
  },
  deleteInvite(state, { by, invite }) {
    const found = state.invites.get(invite)
    if (found === undefined) return 404
    if (!mayHandOut(state, by, permissionsOfRole(state, found.role) ?? [])) return 403
    state.invites.delete(invite)
    return 204
  },
  createKey(state, { by, role, scope, made = '' }) {
    const refused = refusalOfRole(state, by, role)
    if (refused !== undefined) return refused
    if (!isKnown(state, scope)) return 404
    const madeBy = by.kind === 'user' ? by.id : (state.keys.get(by.id)?.madeBy ?? '')
    state.keys.set(made, { role, scope, madeBy })
    return 201
  },
  revokeKey: (state, { key }) => (state.keys.delete(key) ? 204 : 404),
  createService(state, { by, environment, made = '' }) {
    const scope = scopeOf(state, by)
    if (environment !== null && !isThere(state, scope, environment)) return 404
    const [only, ...others] = scope === null ? [] : reachOf(state, scope)
    const place = environment ?? (others.length === 0 ? only : undefined) ?? null
    if (!isPlaceWithin(state, scope, place)) return 403
    state.services.set(made, place)
    return 201
  },
  moveService(state, { by, service, to }) {
    const scope = scopeOf(state, by)
    if (!state.services.has(service) || !isServiceWithin(state, scope, service)) return 404
    if (to !== null && !isThere(state, scope, to)) return 404
    const from = state.services.get(service) ?? null
    if (from === to) return 200
    if (!isPlaceWithin(state, scope, from) || !isPlaceWithin(state, scope, to)) return 403
    if (isProtectedFrom(state, by, from)) return 403
    state.services.set(service, to)
    return 200
  },
  createEnvironment(state, { project, made = '' }) {
    state.environments.set(made, { project, isProtected: false })
    return 201
  },
  deleteEnvironment(state, { by, environment }) {
    if (!state.environments.has(environment)) return 404
    if (isProtectedFrom(state, by, environment)) return 403
    if ([...state.services.values()].includes(environment)) return 409
    dropEnvironment(state, environment)
    return 204
  },
}

const scopeOf = (state: State, by: Subject): Scope => holderOf(state, by)?.scope ?? null

const isThere = (state: State, scope: Scope, environment: string): boolean =>
  state.environments.has(environment) && isPlaceSeen(state, scope, environment)

const isProtectedFrom = (state: State, by: Subject, environment: string | null): boolean =>
  environment !== null &&
  state.environments.get(environment)?.isProtected === true &&
  heldBy(state, by)?.has('environments.manage_protected') !== true

/** Whether everything that a scope names is there; projects are not played with. */
const isKnown = (state: State, scope: Scope | undefined): boolean =>
  (scope ?? []).every((id) => (id.startsWith('evm-') ? state.environments.has(id) : true))

/** An invite is worth what its inviter could still give. */
function accept(state: State, { by, invite: id }: Of<'accept'>): number {
  const invite = state.invites.get(id)
  if (invite === undefined) return 404
  const granted = permissionsOfRole(state, invite.role) ?? []
  const held = heldBy(state, invite.inviter)
  const isBacked =
    held?.has('team.manage') === true && holderOf(state, invite.inviter)?.scope === null && granted.every((one) => held.has(one))
  if (!isBacked) {
    state.invites.delete(id)
    return 409
  }
  // Without a session it is for who can show a password, which is not given here; with an account in use that is refused.
  if (state.signedOut.has(by.id)) return state.members.has(invite.user) ? 409 : 400
  if (invite.user !== by.id) return 403
  if (state.members.has(by.id)) return 409
  state.invites.delete(id)
  state.members.set(by.id, { role: invite.role, scope: invite.scope })
  return 200
}

/** Whoever was given less keeps no key that can do more. */
function revokeKeysBeyond(state: State, user: string): void {
  const maker = state.members.get(user)
  if (maker === undefined) return
  const held = heldBy(state, { kind: 'user', id: user }) ?? new Set()
  for (const [id, key] of state.keys) {
    if (key.madeBy !== user) continue
    const isWider = maker.scope !== null && (key.scope === null || key.scope.some((one) => !isNamed(state, maker.scope ?? [], one)))
    const may = heldBy(state, { kind: 'key', id }) ?? new Set()
    if (isWider || [...may].some((permission) => !held.has(permission))) state.keys.delete(id)
  }
}

/** Whether a scope names a thing, or the project of an environment: where something is today counts for nothing. */
const isNamed = (state: State, scope: readonly string[], id: string): boolean =>
  scope.includes(id) || scope.includes(state.environments.get(id)?.project ?? id)

function refusalOfRole(state: State, by: Subject, name: string): number | undefined {
  const permissions = permissionsOfRole(state, name)
  if (permissions === undefined) return 400
  return mayHandOut(state, by, permissions) ? undefined : 403
}

const isTaken = (state: State, name: string, except?: string): boolean =>
  [...state.roles].some(([id, role]) => id !== except && role.name.toUpperCase() === name.toUpperCase())
