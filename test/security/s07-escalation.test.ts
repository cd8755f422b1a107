import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestServer, type TestServer } from '../support/server.ts'
import { chooseMove, openingOf } from './escalation/choose.ts'
import { type Answered, explain } from './escalation/explain.ts'
import { heldBy, linesOf, reachedBy, type State, type Subject } from './escalation/model.ts'
import type { Move } from './escalation/moves.ts'
import { createRandom } from './escalation/random.ts'
import { makeWorld, type World } from './escalation/world.ts'

const SEQUENCES = 1000
const SEQUENCES_AT_ONCE = 4
const BATCHES = 10
const MOST_MOVES_AT_ONCE = 3
/** Another play: `S07_SEED=7 npx bun --bun vitest run …`. */
const seed = Number(process.env.S07_SEED ?? 1)

let server: TestServer
beforeAll(async () => {
  server = await startTestServer({ env: { CP_LOGIN_LIMIT: '1000000' } })
})
afterAll(() => server.close())

/** What the play came to, by kind of move and status, so that it can be seen to have been one. */
const outcomes = new Map<string, number>()
let simultaneous = 0

test(`S7: in ${SEQUENCES} random sequences nobody comes to hold what nobody who held it gave them`, { timeout: 480_000 }, async () => {
  for (let n = 0; n < SEQUENCES; n += SEQUENCES_AT_ONCE)
    await Promise.all(Array.from({ length: SEQUENCES_AT_ONCE }, (_, index) => playSequence(seed * 1_000_000 + n + index)))
  expect(wantedOutcomes.filter((outcome) => (outcomes.get(outcome) ?? 0) < 20)).toEqual([])
  expect(simultaneous).toBeGreaterThan(SEQUENCES)
  expect(server.logged.filter((line) => line.includes('"level":"error"'))).toEqual([])
})

/** Moves must succeed, and be refused for each of the reasons there are. */
const wantedOutcomes = [
  ...['createRole 201', 'createRole 403', 'createRole 409', 'patchRole 200', 'patchRole 403', 'patchRole 404'],
  ...['renameRole 200', 'renameRole 403', 'deleteRole 204', 'deleteRole 403', 'deleteRole 409'],
  ...['changeMember 200', 'changeMember 400', 'changeMember 403', 'changeMember 404', 'changeMember 409'],
  ...['removeMember 204', 'removeMember 403', 'removeMember 409', 'leave 204', 'leave 403', 'leave 409'],
  ...[
    'invite 201',
    'invite 403',
    'invite 409',
    'deleteInvite 204',
    'deleteInvite 403',
    'accept 200',
    'accept 403',
    'accept 404',
    'accept 409',
  ],
  ...['createKey 201', 'createKey 403', 'createKey 404', 'revokeKey 204', 'revokeKey 404'],
  ...['createService 201', 'createService 403', 'createService 404', 'moveService 200', 'moveService 403', 'moveService 404'],
  ...['createEnvironment 201', 'createEnvironment 403', 'deleteEnvironment 204', 'deleteEnvironment 403', 'deleteEnvironment 409'],
]

async function playSequence(sequenceSeed: number): Promise<void> {
  const random = createRandom(sequenceSeed)
  const { world, state } = await makeWorld(server)
  const trace: string[] = [`seed ${sequenceSeed}`]
  try {
    let present = state
    for (const opening of openingOf(random, world)) present = await playAtOnce(world, present, { moves: [opening(present)], trace })
    for (let batch = 0; batch < BATCHES; batch++) {
      const count = random.chance(0.4) ? 2 + random.below(MOST_MOVES_AT_ONCE - 1) : 1
      const moves = Array.from({ length: count }, () => chooseMove(random, present, world))
      if (count > 1) simultaneous++
      present = await playAtOnce(world, present, { moves, trace })
      const { people } = world
      await expectTold(world, present, { kind: 'user', id: random.pick(people) })
    }
    for (const id of present.keys.keys()) await expectTold(world, present, { kind: 'key', id })
    for (const id of world.people) await expectTold(world, present, { kind: 'user', id })
  } catch (error) {
    throw new Error(`${trace.join('\n')}\n${error instanceof Error ? error.message : String(error)}`, { cause: error })
  }
}

async function playAtOnce(world: World, state: State, { moves, trace }: { moves: Move[]; trace: string[] }): Promise<State> {
  const answered: Answered[] = await Promise.all(
    moves.map(async (move) => {
      const { status, made } = await world.send(move)
      return { move: { ...move, made }, status }
    }),
  )
  for (const { move, status } of answered) outcomes.set(`${move.kind} ${status}`, (outcomes.get(`${move.kind} ${status}`) ?? 0) + 1)
  trace.push(answered.map(({ move, status }) => `${status} ${JSON.stringify(move)}`).join('\n  at the same time as '))
  const stored = world.lines()
  const after = explain(state, answered, stored)
  if (after === undefined)
    throw new Error(`No order of these moves explains the answers.\nBefore:\n${linesOf(state).join('\n')}\nAfter:\n${stored.join('\n')}`)
  await expectDead(world, state, after)
  for (const user of after.signedOut) world.signIn(user)
  after.signedOut.clear()
  return after
}

/** Whatever was revoked is refused at once. */
async function expectDead(world: World, before: State, after: State): Promise<void> {
  for (const id of before.keys.keys()) {
    if (!after.keys.has(id)) expect((await world.permissionsOf({ kind: 'key', id })).status, `the revoked key ${id}`).toBe(401)
  }
  for (const id of before.members.keys()) {
    if (after.members.has(id)) continue
    const { status } = await world.permissionsOf({ kind: 'user', id })
    expect(status, `the former member ${id}`).toBe(after.signedOut.has(id) ? 401 : 404)
  }
}

/** The server's own word on what somebody may do is the model's. */
async function expectTold(world: World, state: State, subject: Subject): Promise<void> {
  const { permissions } = await world.permissionsOf(subject)
  const held = heldBy(state, subject)
  expect(permissions?.toSorted(), `what ${subject.id} may do`).toEqual(held === undefined ? undefined : [...held].sort())
  if (held?.has('services.read') !== true) return
  expect((await world.servicesOf(subject))?.toSorted(), `what ${subject.id} reaches`).toEqual([...(reachedBy(state, subject) ?? [])].sort())
}
