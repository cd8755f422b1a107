import { afterAll, beforeAll, expect, test } from 'vitest'
import { stepFailover } from '../../../../server/apps/datastores/failover.ts'
import { whileGrowing } from '../../../../server/apps/datastores/growing.ts'
import type { DatastoreServers } from '../../../../server/apps/datastores/kind.ts'
import { datastoreById, updateDatastore } from '../../../../server/apps/datastores/store.ts'
import { isId } from '../../../../shared/id.ts'
import { addDatastore } from '../../../support/datastores.ts'
import { startTestServer, type TestServer } from '../../../support/server.ts'

let server: TestServer
let primaryId: string
let standbyId: string
beforeAll(async () => {
  server = await startTestServer()
  const { id: workspaceId } = server.db.query<{ id: string }, []>('SELECT id FROM workspaces').get() ?? expect.fail('There is no workspace')
  primaryId = addDatastore(server, { workspaceId, isSuspended: true })
  standbyId = addDatastore(server, { workspaceId, isSuspended: true })
  server.db.query("UPDATE datastores SET role = 'standby', primary_id = ? WHERE id = ?").run(primaryId, standbyId)
})
afterAll(() => server.close())

const row = (id: string) => datastoreById(server.db, id) ?? expect.fail(`${id} is gone`)
const servers = { postgres: {} } as DatastoreServers
const step = () => stepFailover(server.context, servers, row(primaryId))
const begin = (failover: 'handing' | 'fencing') => {
  for (const id of [primaryId, standbyId]) updateDatastore(server.db, id, { failover: null }, Date.now())
  updateDatastore(server.db, primaryId, { failover }, Date.now())
}

test('a primary that was asked to hand over goes on itself where its standby does not have all that it wrote', async () => {
  const { volumeId } = row(primaryId)
  begin('handing')
  expect(await step()).toBe(true)
  expect(row(primaryId)).toMatchObject({ failover: null, volumeId })
  const events = server.db.query<{ type: string }, [string]>('SELECT type FROM events WHERE service_id = ?').all(primaryId)
  expect(events.map(({ type }) => type)).toEqual(['postgres_failover_failed'])
})

test('no volume changes hands while it grows, and each step is found where a kill left it', async () => {
  const [before, other] = [row(primaryId).volumeId, row(standbyId).volumeId]
  begin('fencing')
  expect(await step()).toBe(true)
  expect(row(standbyId).failover).toBe('fencing')
  const done = Promise.withResolvers<void>()
  const growing = whileGrowing(other, () => done.promise)
  expect(await step()).toBe(false)
  expect(row(primaryId).volumeId).toBe(before)
  done.resolve()
  await growing
  expect(await step()).toBe(true)
  expect(row(primaryId)).toMatchObject({ volumeId: other, failover: 'giving' })
  expect(row(standbyId)).toMatchObject({ volumeId: before, failover: 'giving', copy: 2 })
})

test('no version of before takes the volume of a datastore for the disk of a service that is gone', () => {
  // Earlier versions remove what is no disk that they know.
  const { volumeId } = server.db
    .query<{ volumeId: string }, [string]>('SELECT volume_id AS volumeId FROM datastores WHERE id = ?')
    .get(primaryId) ?? {
    volumeId: '',
  }
  expect(isId('volume', volumeId)).toBe(true)
  expect(isId('disk', volumeId)).toBe(false)
})
