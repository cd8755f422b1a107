import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sweepDisks } from '../../../../server/apps/disks/lifecycle/sweep.ts'
import { diskEnv, diskForInstance } from '../../../../server/apps/disks/workload.ts'
import type { Volumes } from '../../../../server/engines/port/volumes.ts'
import { createService } from '../../../support/apps.ts'
import { call } from '../../../support/client.ts'
import { startTestServer, type TestServer } from '../../../support/server.ts'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.close())

let count = 0
async function serviceWithDisk(): Promise<{ serviceId: string; id: string }> {
  const serviceId = await createService(server, { name: `svc-${++count}` })
  const json = { serviceId, name: 'data', mountPath: '/var/data', sizeGB: 1 }
  const { body } = await call<{ id: string }>(`${server.url}/v1/disks`, { json, token: server.adminToken })
  return { serviceId, id: body.id }
}
const settle = (id: string) => server.db.query("UPDATE disks SET status = 'available' WHERE id = ?").run(id)
const contextWith = (changes: Partial<Volumes>) => {
  const { engine } = server.context
  return { ...server.context, engine: { ...engine, volumes: { ...engine.volumes, ...changes } } }
}

describe('an instance', () => {
  test('is given the disk of its service, when nothing is being done with that', async () => {
    const { serviceId, id } = await serviceWithDisk()
    expect(() => diskForInstance(server.context, serviceId)).toThrow('is creating')
    settle(id)
    expect(diskForInstance(server.context, serviceId)).toEqual({ volume: { volumeId: id, mountPath: '/var/data' } })
  })

  test('is told where its disk is, also where it cannot be mounted', async () => {
    const { serviceId, id } = await serviceWithDisk()
    expect(diskEnv(server.context, serviceId)).toEqual({ CPD_DISK_PATH: '/var/data' })
    const elsewhere = contextWith({ pathOf: ({ volumeId }) => `/volumes/${volumeId}` })
    expect(diskEnv(elsewhere, serviceId)).toEqual({ CPD_DISK_PATH: `/volumes/${id}` })
  })

  test('is given no disk of a kind that the engine has no more', async () => {
    const { serviceId, id } = await serviceWithDisk()
    settle(id)
    server.db.query('UPDATE disks SET is_image = 1 WHERE id = ?').run(id)
    expect(() => diskForInstance(server.context, serviceId)).toThrow(
      'The disk data is a file system in a file, which this machine cannot mount any more. See cpd doctor.',
    )
  })

  test('of a service without a disk is given none', async () => {
    expect(diskForInstance(server.context, await createService(server, { name: 'bare' }))).toEqual({})
  })
})

test('volumes of disks that nobody knows are removed, and nothing else', async () => {
  const { volumes } = server.context.engine
  const { id } = await serviceWithDisk()
  const owner = { id: 'srv-1', number: 1 }
  for (const one of [id, 'dsk-00000000000000000099', 'other']) await volumes.make({ id: one, owner, sizeGb: 1, kind: 'folder' })
  await sweepDisks(server.context)
  expect(await volumes.list()).toEqual([id, 'other'])
})
