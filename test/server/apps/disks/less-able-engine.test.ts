import { afterAll, beforeAll, expect, test } from 'vitest'
import { reconcileDisk } from '../../../../server/apps/disks/lifecycle/reconcile.ts'
import { createFakeMachine } from '../../../../server/engines/fake/machine.ts'
import { createFakeVolumes, fakeVolumeCapabilities } from '../../../../server/engines/fake/volumes.ts'
import { createService } from '../../../support/apps.ts'
import { diskOf } from '../../../support/disks.ts'
import { idleEngine } from '../../../support/idle-parts.ts'
import { startTestServer, type TestServer } from '../../../support/server.ts'

const DAY_MS = 24 * 60 * 60_000

let server: TestServer
beforeAll(async () => {
  const volumes = createFakeVolumes(createFakeMachine(), { ...fakeVolumeCapabilities, grow: 'never', snapshots: false })
  server = await startTestServer({ parts: { engine: { ...idleEngine, volumes } } })
})
afterAll(() => server.close())

test('what an engine cannot do with volumes is refused in words, and not tried daily', async () => {
  const serviceId = await createService(server, {
    name: 'modest',
    serviceDetails: { disk: { name: 'data', mountPath: '/var/data', sizeGB: 1 } },
  })
  const { id } = server.db.query<{ id: string }, [string]>('SELECT id FROM disks WHERE service_id = ?').get(serviceId) ?? { id: '' }
  const disk = diskOf(server, id)
  await reconcileDisk(server.context, id)
  expect(await disk.read()).toMatchObject({ status: 'available' })

  const grown = await disk.ask('', { method: 'PATCH', json: { sizeGB: 2 } })
  expect(grown).toMatchObject({ status: 400, body: { message: expect.stringContaining('keep their size') } })
  expect(await disk.ask('', { method: 'PATCH', json: { name: 'renamed' } })).toMatchObject({ status: 200 })
  const taken = await disk.ask('/snapshots', { method: 'POST' })
  expect(taken).toMatchObject({ status: 400, body: { message: 'This server takes no snapshots of disks.' } })

  server.db.query('UPDATE disks SET created_at = ? WHERE id = ?').run(Date.now() - 2 * DAY_MS, id)
  expect(await reconcileDisk(server.context, id)).toBeUndefined()
  expect(await disk.snapshots()).toEqual([])
})
