import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { AppContext } from '../../../../server/apps/context.ts'
import { datastoreById, swapVolumes, updateDatastore } from '../../../../server/apps/datastores/store.ts'
import { postgresById } from '../../../../server/apps/postgres/store.ts'
import { stepUpgrade } from '../../../../server/apps/postgres/upgrade/steps.ts'
import { createUpgradeWork } from '../../../../server/apps/postgres/upgrade/work.ts'
import { confirmUpgrade, noteUpgraded, requestReturn, returnIfUpgraded } from '../../../../server/apps/postgres/upgrade-request.ts'
import { putUpgrade, updateUpgrade, upgradeOf } from '../../../../server/apps/postgres/upgrade-store.ts'
import { createFakeMachine } from '../../../../server/engines/fake/machine.ts'
import { createFakeVolumes } from '../../../../server/engines/fake/volumes.ts'
import { AppError } from '../../../../shared/error.ts'
import { addDatastore } from '../../../support/datastores.ts'
import { startTestServer, type TestServer } from '../../../support/server.ts'

const [DONE, REFUSED] = ['cpd-upgrade: done\n', 'Something is missing\ncpd-upgrade: refused\n']
const SNAPSHOT = 'upgrade-1'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.close())

let id: string
let said: string[]
let context: AppContext
let isInUse: boolean
let isFull: boolean
const machine = createFakeMachine()

beforeEach(async () => {
  const { db } = server.context
  id = addDatastore(server, { workspaceId: db.query<{ id: string }, []>('SELECT id FROM workspaces LIMIT 1').get()?.id ?? '' })
  updateDatastore(db, id, { version: '15', upgrade: 'under_way' }, 1)
  ;[said, isInUse, isFull] = [[], false, false]
  context = contextOf()
  const { volumeId } = row()
  putUpgrade(db, { id, fromVersion: '15', toVersion: '18', volumeId, snapshot: SNAPSHOT, startedAt: 1 })
  updateUpgrade(db, id, { step: 'checking' })
  await context.engine.volumes.make({ id: volumeId, kind: 'folder', sizeGb: 1, owner: { id, number: 1 } })
  files().set('data', 'of 15')
})

/** What is run says the next of what is given, and then nothing. */
function contextOf(): AppContext {
  const programs = ['18', '15'].map((major) => ({ kind: 'postgres', name: `postgres-${major}`, version: `${major}.1`, major }))
  const volumes = createFakeVolumes(machine)
  const snapshot: typeof volumes.snapshot = async (...given) => {
    if (isFull) throw new AppError('unavailable', 'There is no room.')
    return await volumes.snapshot(...given)
  }
  const output = { open: () => ({ read: async () => ({ bytes: new TextEncoder().encode(said.shift() ?? '') }), remove: async () => {} }) }
  return {
    ...server.context,
    programs: { available: () => programs },
    engine: { ...server.context.engine, output, volumes: { ...volumes, snapshot, isInUse: async () => isInUse } },
    work: { ...server.context.work, awaited: { run: async () => {}, end: async () => {} } },
  } as never
}

function row() {
  const datastore = datastoreById(server.db, id)
  if (datastore === undefined) throw new Error('It is gone')
  return datastore
}

const files = () => machine.volumes.get(row().volumeId)?.files ?? new Map<string, string>()
const step = () => stepUpgrade(context, row())
const upgrade = () => upgradeOf(server.db, id)
const events = () =>
  server.db
    .query<{ type: string }, [string]>("SELECT type FROM events WHERE service_id = ? AND type LIKE '%upgrade%' ORDER BY id")
    .all(id)
    .map(({ type }) => type)

test('each step is taken once, and may be taken again', async () => {
  said = [DONE, '', DONE]
  isInUse = true
  expect(await step()).toBe(true)
  expect(await step()).toBe(false)
  isInUse = false
  await step()
  expect(await context.engine.volumes.listSnapshots(row().volumeId)).toEqual([SNAPSHOT])
  expect(upgrade()?.step).toBe('linking')
  await step()
  expect(upgrade()).toMatchObject({ step: 'linking', attempts: 1 })
  await step()
  expect(row()).toMatchObject({ version: '18', upgrade: null, generation: 2 })
  expect(postgresById(server.db, id)?.lineage).toBe(1)
  noteUpgraded(context, row())
  noteUpgraded(context, row())
  expect(upgrade()).toMatchObject({ step: 'settling', keptUntil: expect.any(Number) })
  expect(events()).toEqual(['postgres_upgrade_succeeded'])
})

test('what cannot be done leaves the database as it was', async () => {
  said = [REFUSED]
  await step()
  expect(row()).toMatchObject({ version: '15', upgrade: null, generation: 2 })
  expect(upgrade()).toMatchObject({ step: 'failed', reason: 'Something is missing' })
  expect(postgresById(server.db, id)?.lineage).toBe(0)
  expect(events()).toEqual(['postgres_upgrade_failed'])
})

test('without room for the way back nothing is changed', async () => {
  said = [DONE]
  isFull = true
  await step()
  await step()
  expect(row()).toMatchObject({ version: '15', upgrade: null })
  expect(upgrade()?.reason).toContain('There is no room.')
})

test('a run that nobody sees the end of three times is taken back, once nothing uses the volume', async () => {
  said = [DONE]
  await step()
  await step()
  files().set('data', 'half of 18')
  for (let attempt = 0; attempt < 3; attempt++) await step()
  expect(upgrade()?.step).toBe('returning')
  isInUse = true
  expect(await step()).toBe(false)
  isInUse = false
  await step()
  expect(files().get('data')).toBe('of 15')
  expect(row()).toMatchObject({ version: '15', upgrade: null })
  expect(upgrade()).toMatchObject({ step: 'returned', reason: expect.stringContaining('three times') })
  expect(events()).toEqual(['postgres_upgrade_failed'])
})

test('a new server that does not come up is taken back by itself', async () => {
  said = [DONE, DONE]
  for (let taken = 0; taken < 3; taken++) await step()
  expect(returnIfUpgraded(context, row(), 'It ended with 1.')).toBe(true)
  expect(row().upgrade).toBe('under_way')
  expect(returnIfUpgraded(context, row(), 'It ended with 1.')).toBe(false)
  await step()
  expect(row()).toMatchObject({ version: '15', upgrade: null })
  expect(upgrade()?.reason).toContain('did not come up with the new version. It ended with 1.')
  expect(returnIfUpgraded(context, row(), 'It ended with 1.')).toBe(false)
})

test('an upgrade is taken back within its day, and no second time', async () => {
  said = [DONE, DONE]
  for (let taken = 0; taken < 3; taken++) await step()
  noteUpgraded(context, row())
  files().set('data', 'of 18')
  requestReturn(context, row())
  await step()
  expect(files().get('data')).toBe('of 15')
  expect(postgresById(server.db, id)?.lineage).toBe(2)
  expect(events()).toEqual(['postgres_upgrade_succeeded', 'postgres_upgrade_reverted'])
  expect(() => requestReturn(context, row())).toThrow('was not upgraded')
})

async function lookAgain(now: number, volumeId = row().volumeId): Promise<string[]> {
  const work = createUpgradeWork({ ...context, now: () => now, after: () => () => {} })
  work.pokeAll()
  await work.settled()
  return await context.engine.volumes.listSnapshots(volumeId)
}

test('the way back is given up before its day is over', async () => {
  expect(() => confirmUpgrade(context, row())).toThrow('Nothing is kept')
  said = [DONE, DONE]
  for (let taken = 0; taken < 3; taken++) await step()
  noteUpgraded(context, row())
  const until = upgrade()?.keptUntil ?? 0
  updateUpgrade(server.db, id, { step: 'done' })
  expect(await lookAgain(until - 1)).toEqual([SNAPSHOT])
  confirmUpgrade(context, row())
  expect(() => requestReturn(context, row())).toThrow('until that is confirmed')
  expect(await lookAgain(until - 1)).toEqual([])
  expect(() => confirmUpgrade(context, row())).toThrow('Nothing is kept')
})

test('the way back ends with its day, and where the volume is of the standby by then', async () => {
  said = [DONE, DONE]
  for (let taken = 0; taken < 3; taken++) await step()
  noteUpgraded(context, row())
  updateUpgrade(server.db, id, { step: 'done' })
  const { volumeId } = row()
  const until = upgrade()?.keptUntil ?? 0
  expect(await lookAgain(until - 1, volumeId)).toEqual([SNAPSHOT])
  const other = addDatastore(server, { workspaceId: row().workspaceId })
  swapVolumes(server.db, row(), datastoreById(server.db, other) ?? row())
  expect(await lookAgain(until - 1, volumeId)).toEqual([])
  expect(upgrade()).toMatchObject({ snapshot: '', keptUntil: null })
  expect(() => requestReturn(context, row())).toThrow('has taken its place')
})

test('nothing is kept of an upgrade that failed', async () => {
  said = [DONE, REFUSED]
  for (let taken = 0; taken < 3; taken++) await step()
  const { volumeId } = row()
  expect(await context.engine.volumes.listSnapshots(volumeId)).toEqual([SNAPSHOT])
  const work = createUpgradeWork(context)
  work.poke(id)
  await work.settled()
  expect(await context.engine.volumes.listSnapshots(volumeId)).toEqual([])
})
