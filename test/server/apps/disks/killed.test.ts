import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runProcess } from '../../../../server/platform/process/spawn.ts'
import { call } from '../../../support/client.ts'
import { type ControlPlane, startControlPlane } from '../../../support/control-plane.ts'
import { diskApp, diskOf, makeServiceWithDisk, type TestDisk } from '../../../support/disks.ts'
import type { TestService } from '../../../support/service.ts'
import { serviceOf } from '../../../support/service.ts'
import { until } from '../../../support/until.ts'

/** Moments after a request at which the control plane is killed, over the time that what it began takes. */
const MOMENTS_MS = [0, 15, 40, 80, 130, 200, 300]

let plane: ControlPlane
beforeAll(async () => {
  plane = await startControlPlane({ CP_HEALTH_TIMEOUT_SECONDS: '5' })
})
afterAll(() => plane.close())

const visit = async (name: string, path: string) => await plane.ingress.visit(`${name}.localhost`, path)
/** Asked as long as nothing serves. */
const visitBack = (name: string, path: string): Promise<string> =>
  until(`${name} answers`, async () => {
    const { status, text } = await visit(name, path).catch(() => ({ status: 0, text: '' }))
    return status === 200 && text
  })

async function killAndStart(): Promise<void> {
  await plane.kill()
  await plane.start()
}

/** Every start listens at another port. */
const again = ({ id, name }: TestService, disk: TestDisk) => ({ service: serviceOf(plane, { id, name }), disk: diskOf(plane, disk.id) })

test('a control plane that is killed at any moment of a deploy, a restart or a restore leaves one instance and the same bytes', async () => {
  const made = await makeServiceWithDisk(plane, 'survives')
  await made.service.goLive('hello-js', diskApp)
  await visit('survives', '/make')
  const hash = (await visit('survives', '/hash')).text
  const { snapshotKey } = await made.disk.snapshot()
  for (const [index, moment] of MOMENTS_MS.entries()) {
    const { service, disk } = again(made.service, made.disk)
    const begin = [
      () => service.upload('hello-js', { ...diskApp, 'note.txt': String(moment) }),
      () => service.ask('/restart', { method: 'POST' }),
      () => disk.ask('/snapshots/restore', { method: 'POST', json: { snapshotKey } }),
    ]
    await begin[index % begin.length]?.()
    await sleep(moment)
    await killAndStart()
    const { service: now, disk: nowDisk } = again(made.service, made.disk)
    await nowDisk.isAvailable()
    await until('no deploy is on its way', async () => {
      const { body } = await now.ask<{ deploy: { finishedAt?: string } }[]>('/deploys?limit=1')
      return body[0]?.deploy.finishedAt !== undefined
    })
    await now.settles('running')
    expect(await visitBack('survives', '/hash'), `killed after ${moment} ms`).toBe(hash)
  }
  expect(readFileSync('/proc/self/mountinfo', 'utf8')).not.toContain(plane.dataDir)
  const { service } = again(made.service, made.disk)
  await service.ask('', { method: 'DELETE' })
  await until('the service is gone', async () => (await service.ask('')).status === 404 && loopDevices().length === 0)
}, 180_000)

test('a control plane that is killed while it takes a snapshot leaves no app standing still, and takes it at its next start', async () => {
  const { service, disk } = await makeServiceWithDisk(plane, 'thaws')
  await service.goLive('hello-js', diskApp)
  await visit('thaws', '/fill')
  for (const moment of [20, 60, 120]) {
    const { disk: now } = again(service, disk)
    await now.ask('/snapshots', { method: 'POST' })
    await sleep(moment)
    await plane.kill()
    // Nobody is there who could let it go on.
    expect((await visit('thaws', `/put?hash`)).status).toBeGreaterThan(0)
    await plane.start()
    await until('the snapshot is there', async () =>
      (await again(service, disk).disk.snapshots()).every(({ status }) => status === 'available'),
    )
  }
  const folder = join(plane.dataDir, 'disks', disk.id, 'snapshots')
  const names = readdirSync(folder)
  expect(names).toHaveLength(3)
  for (const name of names) {
    const { exitCode } = await runProcess(['e2fsck', '-f', '-n', join(folder, name)], { env: { PATH: '/usr/sbin:/sbin' } })
    expect(exitCode).toBe(0)
  }
  const { service: now } = again(service, disk)
  await now.ask('', { method: 'DELETE' })
  await until('the service is gone', async () => (await now.ask('')).status === 404 && loopDevices().length === 0)
  const { status } = await call(`${plane.url}/v1/disks/${disk.id}`, { method: 'DELETE', token: plane.adminToken })
  expect(status).toBe(204)
  await until('its folder is gone', () => !existsSync(join(plane.dataDir, 'disks', disk.id)))
}, 180_000)

const loopDevices = (): string[] =>
  readdirSync('/sys/block').filter((name) => {
    const file = `/sys/block/${name}/loop/backing_file`
    return existsSync(file) && readFileSync(file, 'utf8').includes(plane.dataDir)
  })
