import { afterEach, expect, test } from 'vitest'
import { deleteDatastore, resumeDatastore } from '../../../../server/apps/datastores/operations.ts'
import { statusOf } from '../../../../server/apps/datastores/status.ts'
import type { StoredDatastore } from '../../../../server/apps/datastores/store.ts'
import { allSets } from '../../../../server/runtime/workloads/set-store.ts'
import { allWorkloads, workloadsOf } from '../../../../server/runtime/workloads/store.ts'
import { randomNumbers } from '../../../support/random-numbers.ts'
import { happen, shown } from './fleet/events.ts'
import { DATA_OF, ROWS, rowsIn, servingVolume } from './fleet/machine.ts'
import { type Fleet, openFleet } from './fleet/world.ts'

/** Many more are tried by hand: CHAOS_SEEDS=1000, from CHAOS_FIRST on. */
const SEEDS = Number(process.env.CHAOS_SEEDS ?? 20)
const FIRST = Number(process.env.CHAOS_FIRST ?? 1)
const STEPS = 40
const LONGEST_PASS_MS = 8000
const REST_MS = 3000
/** Far past the longest pause between two starts, and between two looks of a control plane. */
const MOST_RESTS = 400

let fleet: Fleet
afterEach(() => fleet.close())

/** Rows that a client was told are kept, by database, and whether a standby had them at that moment. */
type Acknowledged = Map<string, { rows: number; isInStep: boolean }>

/** After so many ends in a row the files of a server may be taken for broken. */
const DOUBTFUL_RESTARTS = 4
/** Databases whose files may have been taken for broken: what their standby did not have is lost. */
const hurt = new Set<string>()

function noteHurt(): void {
  for (const { id, volumeId } of shown(fleet)) {
    const restarts = workloadsOf(fleet.context.db, 'datastore', id).map((workload) => workload.restarts)
    if (fleet.broken.has(volumeId) || Math.max(0, ...restarts) >= DOUBTFUL_RESTARTS) hurt.add(id)
  }
}

/** Each database that takes connections takes one more row, and who follows it has that at once. */
function write(acknowledged: Acknowledged): void {
  for (const { id, role } of shown(fleet)) {
    const volume = role === 'primary' ? servingVolume(fleet.machine, id) : undefined
    if (volume === undefined) continue
    const rows = rowsIn(volume) + 1
    volume.files.set(ROWS, String(rows))
    const followers = fleet.rows().filter(({ primaryId }) => primaryId === id)
    const streaming = followers.map((one) => ({ ...one, volume: servingVolume(fleet.machine, one.id) }))
    for (const one of streaming) if (one.volume?.files.get(DATA_OF) === id) one.volume.files.set(ROWS, String(rows))
    acknowledged.set(id, { rows, isInStep: streaming.some((one) => one.role === 'standby' && one.volume !== undefined) })
  }
}

/** Nothing goes but with broken files, and then nothing that a standby had. */
function expectRows(acknowledged: Acknowledged, told: string): void {
  for (const { id, role } of shown(fleet)) {
    const volume = role === 'primary' ? servingVolume(fleet.machine, id) : undefined
    const known = acknowledged.get(id)
    if (volume !== undefined && known !== undefined && (known.isInStep || !hurt.has(id)))
      expect(rowsIn(volume), `${told}, ${id}`).toBeGreaterThanOrEqual(known.rows)
  }
}

async function live(seed: number): Promise<Acknowledged> {
  fleet.seed(randomNumbers(seed))
  const acknowledged: Acknowledged = new Map()
  for (let step = 0; step < STEPS; step++) {
    const told = `seed ${seed}, step ${step}`
    happen(fleet)
    noteHurt()
    await fleet.pass(1 + fleet.below(LONGEST_PASS_MS))
    noteHurt()
    expect(fleet.wrong, told).toEqual([])
    expectRows(acknowledged, told)
    write(acknowledged)
  }
  return acknowledged
}

async function restUntil(isDone: () => boolean): Promise<void> {
  for (let rest = 0; rest < MOST_RESTS && !isDone(); rest++) await fleet.pass(REST_MS)
}

const runsOf = (id: string): string[] => fleet.machine.running().filter((run) => run.startsWith(`${id}-`))

/** Where it stands, in a word for people, and what runs of it. */
const standing = (one: StoredDatastore): [string, number] => [
  statusOf(one, workloadsOf(fleet.context.db, 'datastore', one.id)),
  runsOf(one.id).length,
]

const isAtRest = (one: StoredDatastore): boolean => {
  if (one.phase === 'deleting') return false
  const [status, running] = standing(one)
  return one.suspendedBy === null ? status === 'available' && running === 1 && one.growToGb === null : running === 0
}

async function comeToRest(seed: number, acknowledged: Acknowledged): Promise<void> {
  fleet.machine.faults.clear()
  fleet.broken.clear()
  for (const volume of fleet.machine.volumes.values()) if (volume.usedBytes !== undefined) volume.usedBytes = 0
  await restUntil(() => fleet.rows().every(isAtRest))
  for (const one of shown(fleet)) if (one.suspendedBy !== null && one.primaryId === null) resumeDatastore(fleet.context, one)
  await restUntil(() => fleet.rows().every((one) => one.suspendedBy === null && isAtRest(one)))
  const all = fleet.rows()
  expect(
    all.map((one) => [one.id, ...standing(one), one.problem]),
    `seed ${seed}`,
  ).toEqual(all.map(({ id }) => [id, 'available', 1, null]))
  expectRows(acknowledged, `seed ${seed}, at rest`)
  for (const { volumeId, sizeGb } of all) expect(fleet.machine.volumes.get(volumeId)?.sizeGb, `seed ${seed}`).toBeGreaterThanOrEqual(sizeGb)
  expect(fleet.machine.volumes.size, `seed ${seed}`).toBe(all.length)
}

async function expectAllGone(seed: number): Promise<void> {
  for (const one of shown(fleet)) if (one.primaryId === null) deleteDatastore(fleet.context, one, { isForced: true })
  await restUntil(() => fleet.rows().length === 0)
  const { db } = fleet.context
  const left = [fleet.rows(), allWorkloads(db), allSets(db), [...fleet.machine.runs.keys()], [...fleet.machine.volumes.keys()]]
  expect(left, `seed ${seed}`).toEqual([[], [], [], [], []])
  expect(fleet.wrong, `seed ${seed}`).toEqual([])
}

test.each(['online', 'offline'] as const)(
  'whatever is asked and whatever happens, no two servers ever have one disk, and what is wanted runs in the end with all it took (%s)',
  async (grow) => {
    fleet = openFleet(grow)
    for (let seed = FIRST; seed < FIRST + SEEDS; seed++) {
      const acknowledged = await live(seed)
      await comeToRest(seed, acknowledged)
      await expectAllGone(seed)
    }
  },
  60_000 + SEEDS * 1000,
)
