import { afterAll, beforeAll, expect, test } from 'vitest'
import { reconcileDisk } from '../../../../server/apps/disks/lifecycle/reconcile.ts'
import { diskById } from '../../../../server/apps/disks/store.ts'
import { createFakeMachine, type FakeVolume } from '../../../../server/engines/fake/machine.ts'
import { createFakeVolumes } from '../../../../server/engines/fake/volumes.ts'
import type { Volumes } from '../../../../server/engines/port/volumes.ts'
import { createService } from '../../../support/apps.ts'
import { diskOf, type TestDisk } from '../../../support/disks.ts'
import { idleEngine } from '../../../support/idle-parts.ts'
import { startTestServer, type TestServer } from '../../../support/server.ts'

const SEEDS = Number(process.env.CHAOS_SEEDS ?? 60)
const ACTS = 12
const MOST_ROUNDS = 200

let server: TestServer
beforeAll(async () => {
  server = await startTestServer({ parts: { engine: { ...idleEngine, volumes } } })
})
afterAll(() => server.close())

const machine = createFakeMachine()
const volumes = createFakeVolumes(machine)

/** Numbers from 0 to 1 that are the same for the same seed. */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return state / 2 ** 31
  }
}

const KILLED = new Error('killed')
const CHANCE = 0.25

/** Volumes about which a control plane may be killed, before a call takes effect or after it, and whose answers may be lost or refusals. */
function troubled(random: () => number, kill: () => void): Volumes {
  const names = [
    'make',
    'grow',
    'give',
    'snapshot',
    'compactSnapshot',
    'listSnapshots',
    'removeSnapshot',
    'prepareRestore',
    'restore',
    'remove',
  ]
  const wrapped = names.map((name) => {
    const call = volumes[name as 'make'] as (...given: unknown[]) => Promise<unknown>
    return [
      name,
      async (...given: unknown[]) => {
        if (random() < CHANCE) return die(kill)
        if (random() < CHANCE) machine.faults.inject(`volumes.${name as 'make'}`, { kind: random() < 0.5 ? 'lost' : 'refused' })
        const answer = await call(...given)
        return random() < CHANCE ? die(kill) : answer
      },
    ]
  })
  return { ...volumes, ...Object.fromEntries(wrapped) }
}

function die(kill: () => void): never {
  kill()
  throw KILLED
}

/** Has one control plane after the other do what is due about a disk, until nothing is. */
async function comesToRest(id: string, random: () => number): Promise<void> {
  let stopping = new AbortController()
  for (let round = 0; round < MOST_ROUNDS; round++) {
    if (stopping.signal.aborted) stopping = new AbortController()
    const engine = { ...server.context.engine, volumes: troubled(random, () => stopping.abort(KILLED)) }
    const dueAt = await reconcileDisk({ ...server.context, engine, stopping: stopping.signal }, id).catch(() => 0)
    if (dueAt === undefined || dueAt > Date.now() + 1000) return
  }
  throw new Error('It does not come to rest')
}

interface Model {
  disk: TestDisk
  /** Contents of the snapshots that are there, by key. */
  snapshots: Map<string, string>
  content: string
}

const volumeOf = ({ disk }: Model): FakeVolume | undefined => machine.volumes.get(disk.id)
const eventsOf = (serviceId: string, type: string) =>
  server.db
    .query<{ details: string }, [string, string]>('SELECT details FROM events WHERE service_id = ? AND type = ?')
    .all(serviceId, type)

const acts = ['write', 'grow', 'snapshot', 'snapshot', 'restore', 'restore', 'removeSnapshot'] as const

async function act(model: Model, random: () => number): Promise<void> {
  const { disk, snapshots } = model
  const key = [...snapshots.keys()][Math.floor(random() * snapshots.size)]
  const chosen = acts[Math.floor(random() * acts.length)]
  if (chosen === 'write') model.content = String(random())
  if (chosen === 'write') volumeOf(model)?.files.set('note', model.content)
  if (chosen === 'grow') await disk.ask('', { method: 'PATCH', json: { sizeGB: (await disk.read()).sizeGB + 1 } })
  if (chosen === 'snapshot') await disk.ask('/snapshots', { method: 'POST' })
  if (chosen === 'restore' && key !== undefined) await disk.ask('/snapshots/restore', { method: 'POST', json: { snapshotKey: key } })
  if (chosen === 'removeSnapshot' && key !== undefined) await disk.ask(`/snapshots/${key}`, { method: 'DELETE' })
  await comesToRest(disk.id, random)
  await agrees(model, { restored: chosen === 'restore' ? key : undefined })
}

/** What people are told is what is there: content, snapshots with theirs, size. */
async function agrees(model: Model, { restored }: { restored: string | undefined }): Promise<void> {
  const { disk, snapshots } = model
  const before = model.content
  const volume = volumeOf(model)
  const told = (await disk.snapshots()).filter(({ status }) => status === 'available')
  const fresh = told.filter(({ snapshotKey }) => !snapshots.has(snapshotKey))
  const isRestored = fresh.some(({ origin }) => origin === 'before_restore')
  if (isRestored) model.content = snapshots.get(restored ?? '') ?? ''
  for (const { snapshotKey } of fresh) snapshots.set(snapshotKey, before)
  for (const key of snapshots.keys()) if (told.every(({ snapshotKey }) => snapshotKey !== key)) snapshots.delete(key)
  expect(volume?.files.get('note') ?? '').toBe(model.content)
  expect(Object.fromEntries([...(volume?.snapshots ?? [])].map(([key, files]) => [key, files.get('note') ?? '']))).toEqual(
    Object.fromEntries(snapshots),
  )
  expect((await disk.read()).status).toBe('available')
  expect(volume?.sizeGb).toBeGreaterThanOrEqual((await disk.read()).sizeGB)
}

test.each(Array.from({ length: SEEDS }, (_, index) => index + 1))(
  'what is told of a disk is so, whatever befalls it (%i)',
  async (seed) => {
    const random = randomFrom(seed * 7919)
    const serviceId = await createService(server, {
      name: `svc-${seed}`,
      serviceDetails: { disk: { name: 'data', mountPath: '/var/data', sizeGB: 1 } },
    })
    const { id } = server.db.query<{ id: string }, [string]>('SELECT id FROM disks WHERE service_id = ?').get(serviceId) ?? { id: '' }
    const model: Model = { disk: diskOf(server, id), snapshots: new Map(), content: '' }
    await comesToRest(id, random)
    await agrees(model, { restored: undefined })
    for (let count = 0; count < ACTS; count++) await act(model, random)
    expect(eventsOf(serviceId, 'disk_created')).toHaveLength(1)
    await model.disk.ask('', { method: 'DELETE' })
    await comesToRest(id, random)
    expect(diskById(server.db, id)).toBeUndefined()
    expect(machine.volumes.has(id)).toBe(false)
    expect(eventsOf(serviceId, 'disk_deleted')).toHaveLength(1)
  },
)
