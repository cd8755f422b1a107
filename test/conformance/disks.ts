import { call } from '../support/client.ts'
import { diskOf } from '../support/disks.ts'
import type { World } from './world.ts'

/** The path of a disk just made, once it can be used. */
export async function makeDisk(world: World): Promise<string> {
  return `/v1/disks/${(await madeDisk(world)).id}`
}

/** A disk just made, and the key of a snapshot of it. */
export async function makeDiskWithSnapshot(world: World): Promise<{ path: string; snapshotKey: string }> {
  const disk = await madeDisk(world)
  const { snapshotKey } = await disk.snapshot()
  return { path: `/v1/disks/${disk.id}`, snapshotKey }
}

async function madeDisk(world: World) {
  const json = { serviceId: await world.makeService(), name: 'data', mountPath: '/var/data', sizeGB: 1 }
  const { body } = await call<{ id: string }>(`${world.platform.url}/v1/disks`, { json, token: world.platform.adminToken })
  const disk = diskOf(world.platform, body.id)
  await disk.isAvailable()
  return disk
}
