import { builtInRoles, type Permission, permissionNames } from '../../../shared/permission.ts'
import { heldBy, type Scope, type State, type Subject } from './model.ts'
import type { Move } from './moves.ts'
import type { Random } from './random.ts'
import type { World } from './world.ts'

/** What the moves are about; others would only make the sets longer. */
const played: readonly Permission[] = [
  'roles.manage',
  'team.manage',
  'apikeys.manage',
  'services.read',
  'services.create',
  'services.update',
  'projects.manage',
  'environments.manage_protected',
  'env.read',
  'audit.read',
]

/**
 * How each sequence begins: with two people who may do a part of what the administrator may, and an invite by one of them, so that there
 * is somebody to be demoted and something to be kept from.
 */
export function openingOf(random: Random, { people }: World): ((state: State) => Move)[] {
  const [first = '', second = '', third = '', fourth = ''] = people
  const by = (id: string): Subject => ({ kind: 'user', id })
  const some = (sure: Permission): Permission[] => [...new Set([sure, ...random.some(played, 0.5)])]
  const inviteTo =
    (user: string) =>
    (state: State): Move => ({
      by: by(user),
      kind: 'accept',
      invite: [...state.invites].find(([, invite]) => invite.user === user)?.[0] ?? '',
    })
  return [
    () => ({ by: by(first), kind: 'createRole', name: 'inviters', permissions: some('team.manage') }),
    () => ({ by: by(first), kind: 'createRole', name: 'makers', permissions: some(random.pick(['roles.manage', 'apikeys.manage'])) }),
    () => ({ by: by(first), kind: 'invite', user: second, role: 'inviters', scope: null }),
    inviteTo(second),
    () => ({ by: by(first), kind: 'invite', user: third, role: random.pick(['makers', 'inviters', 'admin']), scope: null }),
    inviteTo(third),
    () => ({ by: by(second), kind: 'invite', user: fourth, role: 'inviters', scope: null }),
    // Not by the last administrator, who cannot be confined.
    ({ environments }) => ({ by: by(third), kind: 'createKey', role: 'viewer', scope: [random.pick([...environments.keys()])] }),
  ]
}

/** The next move of a sequence: mostly one that could succeed, by somebody who may do something at all. */
export function chooseMove(random: Random, state: State, { people, projects }: World): Move {
  const by = chooseSubject(random, state, people)
  const role = () => random.pick([...Object.keys(builtInRoles), ...[...state.roles.values()].map(({ name }) => name), 'gone'])
  const idIn = (held: ReadonlyMap<string, unknown>, unknown: string) => random.pick([...held.keys(), unknown])
  const customRole = () => idIn(state.roles, 'rol-00000000000000000000')
  const environment = () => idIn(state.environments, 'evm-00000000000000000000')
  const service = () => idIn(state.services, 'srv-00000000000000000000')
  const thing = () => random.pick([() => random.pick([...state.services.keys()]), environment, () => random.pick(projects)])()
  const scope = (): Scope => (random.chance(0.6) ? null : [...new Set(random.chance(0.7) ? [thing()] : [thing(), thing()])])
  const maker = () => random.pick([...[...state.keys.values()].map(({ madeBy }) => madeBy), random.pick(people)])
  const permissions = (): Permission[] => {
    const some = random.some(random.chance(0.6) ? [...(heldBy(state, by) ?? [])].filter((one) => played.includes(one)) : played, 0.6)
    return some.length > 0 ? some : [random.pick(permissionNames)]
  }
  const choices: (() => Move)[] = [
    () => ({ by, kind: 'createRole', name: `role-${random.below(4)}`, permissions: permissions() }),
    () => ({ by, kind: 'patchRole', role: customRole(), permissions: permissions() }),
    () => ({ by, kind: 'renameRole', role: customRole(), name: `ROLE-${random.below(12)}` }),
    () => ({ by, kind: 'deleteRole', role: customRole() }),
    () => ({ by, kind: 'changeMember', user: random.pick(people), role: role() }),
    () => ({ by, kind: 'changeMember', user: random.pick(people), scope: scope() }),
    // Confining whoever made a key is what shows whether the key reaches further.
    () => ({ by, kind: 'changeMember', user: maker(), scope: scope() }),
    () => ({ by, kind: 'removeMember', user: random.pick(people) }),
    () => ({ by, kind: 'leave' }),
    () => ({ by, kind: 'invite', user: random.pick(people), role: role(), scope: scope() }),
    () => ({ by, kind: 'invite', user: random.pick(people), role: role(), scope: scope() }),
    () => ({ by, kind: 'deleteInvite', invite: idIn(state.invites, 'inv-00000000000000000000') }),
    () => chooseAcceptance(random, state, people),
    () => chooseAcceptance(random, state, people),
    () => ({ by, kind: 'createKey', role: role(), scope: scope() }),
    () => ({ by, kind: 'createKey', role: random.pick(['admin', 'developer']), scope: scope() }),
    () => ({ by, kind: 'createService', environment: random.chance(0.3) ? null : environment() }),
    () => ({ by, kind: 'createService', environment: random.chance(0.3) ? null : environment() }),
    () => ({ by, kind: 'moveService', service: service(), to: random.chance(0.2) ? null : environment() }),
    () => ({ by, kind: 'moveService', service: service(), to: random.chance(0.2) ? null : environment() }),
    () => ({ by, kind: 'createEnvironment', project: random.pick(projects) }),
    () => ({ by, kind: 'deleteEnvironment', environment: environment() }),
    () => ({ by, kind: 'revokeKey', key: idIn(state.keys, 'key-00000000000000000000') }),
  ]
  return random.pick(choices)()
}

function chooseSubject(random: Random, state: State, people: readonly string[]): Subject {
  if (random.chance(0.1)) return { kind: 'user', id: random.pick(people) }
  const subjects: Subject[] = [
    ...[...state.members.keys()].map((id): Subject => ({ kind: 'user', id })),
    ...[...state.keys.keys()].map((id): Subject => ({ kind: 'key', id })),
  ]
  return random.pick(subjects)
}

/** Mostly by the one invited. */
function chooseAcceptance(random: Random, state: State, people: readonly string[]): Move {
  const [id, invite] = random.pick([...state.invites, ['inv-00000000000000000000', undefined] as const])
  const user = invite === undefined || random.chance(0.1) ? random.pick(people) : invite.user
  return { by: { kind: 'user', id: user }, kind: 'accept', invite: id }
}
