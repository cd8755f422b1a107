import { copyFileSync, existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createApp } from '../../../../server/api/app/app.ts'
import { compose } from '../../../../server/boot/serve/compose.ts'
import type { Context } from '../../../../server/boot/serve/context.ts'
import { recover } from '../../../../server/boot/serve/recover.ts'
import { endStraysFor, listStrays, tendStrays } from '../../../../server/boot/serve/strays.ts'
import { readConfig } from '../../../../server/boot/settings/config.ts'
import { servicePathsOf } from '../../../../server/platform/paths.ts'
import { STRAY_KEPT_MS } from '../../../../server/runtime/workloads/strays.ts'
import { createService, deployApp, packApp } from '../../../support/apps.ts'
import { makeDataDir } from '../../../support/data-dir.ts'
import { startTestIngress, type TestIngress } from '../../../support/ingress.ts'
import { commandLine, processesOf } from '../../../support/leftovers.ts'
import { deleteServices } from '../../../support/platform.ts'
import { largeMachine, testAdmin, testStaticToken } from '../../../support/server.ts'
import { until } from '../../../support/until.ts'

const data = makeDataDir()
const backup = `${data.dir}-older.db`
let ingress: TestIngress
let aheadMs = 0
let plane: Plane

interface Plane {
  url: string
  adminToken: string
  context: Context
  close(): Promise<void>
}

async function startPlane(): Promise<Plane> {
  const config = readConfig(
    {
      CP_DATA_DIR: data.dir,
      CP_LISTEN: '127.0.0.1:0',
      CP_INGRESS_HTTP: ingress.address,
      CP_ADMIN_PASSWORD: testAdmin.password,
      SERVICE_API_TOKEN: testStaticToken,
      CP_RATE_LIMIT: '0',
      CP_DRAIN_SECONDS: '0',
      CP_RELEASES_KEPT: '2',
    },
    {},
    process.getuid?.() === 0,
  )
  const parts = { machine: largeMachine, now: () => Date.now() + aheadMs }
  const { context, work, close } = await compose({ config, version: 'test', executable: process.execPath, log: silent, parts })
  const app = createApp(context)
  const { port } = app.listen(config.CP_LISTEN)
  await recover(context, work.keeper)
  work.start()
  return {
    url: `http://127.0.0.1:${port}`,
    adminToken: testStaticToken,
    context,
    close: async () => {
      await app.stop()
      await close()
    },
  }
}

const silent = { info() {}, error() {} }

/** Stops the control plane, does something to its database, and starts another. */
async function restart(meanwhile: () => void): Promise<void> {
  await plane.close()
  meanwhile()
  plane = await startPlane()
}

function putOlderBack(): void {
  for (const end of ['-wal', '-shm']) rmSync(data.paths.controlDb + end, { force: true })
  copyFileSync(backup, data.paths.controlDb)
}

const deploy = async (serviceId: string, version: string) => deployApp(plane, serviceId, await packApp('hello-js', { VERSION: version }))

const served = async (host: string) => (await ingress.visit(`${host}.localhost`)).text

const releasesOf = (serviceId: string) => readdirSync(servicePathsOf(data.paths, serviceId).releases)

const appsRunning = () => processesOf(data.dir).filter((pid) => commandLine(pid) === 'node server.js').length

const uidOf = (serviceId: string) =>
  plane.context.db.query<{ uid: number }, [string]>('SELECT uid FROM services WHERE id = ?').get(serviceId)?.uid ?? 0

const auditOf = (event: string) =>
  plane.context.db.query<{ count: number }, [string]>('SELECT count(*) AS count FROM audit_log WHERE event = ?').get(event)?.count

beforeAll(async () => {
  ingress = await startTestIngress(data.paths)
  plane = await startPlane()
})
afterAll(async () => {
  await deleteServices(plane.context)
  await plane.close()
  await ingress.close()
  rmSync(backup, { force: true })
  data.remove()
})

test('when an older database is put back, what it does not know runs on, keeps its files, and is ended when asked for or after a day', async () => {
  const known = await createService(plane, { name: 'known' })
  await deploy(known, '1')
  await restart(() => copyFileSync(data.paths.controlDb, backup))
  await deploy(known, '2')
  const unknown = await createService(plane, { name: 'unknown' })
  await deploy(unknown, '1')
  const unknownUid = uidOf(unknown)
  await restart(putOlderBack)

  const strays = listStrays(plane.context)
  expect(strays.map(({ serviceId, serviceName }) => [serviceId, serviceName]).sort()).toEqual(
    [
      [known, 'known'],
      [unknown, undefined],
    ].sort(),
  )
  await until('the database runs again what it knows', async () => (await served('known')) === 'hello-js 1\n')
  expect([await served('unknown'), appsRunning(), auditOf('server.stray_found')]).toEqual([expect.any(String), 3, 2])

  const newcomer = await createService(plane, { name: 'newcomer' })
  expect(uidOf(newcomer)).toBeGreaterThan(unknownUid)

  const before = releasesOf(known)
  await deploy(known, '3')
  await until('the instance of before is gone', () => appsRunning() === 3)
  expect([await served('known'), releasesOf(known)]).toEqual(['hello-js 3\n', expect.arrayContaining(before)])

  await restart(() => {})
  expect(listStrays(plane.context)).toEqual(strays)
  const ofKnown = strays.filter(({ serviceId }) => serviceId === known)
  expect(
    await endStraysFor(
      plane.context,
      ofKnown.map(({ id }) => id),
    ),
  ).toEqual(strays.filter(({ serviceId }) => serviceId === unknown))
  expect([appsRunning(), existsSync(join(data.paths.services, unknown))]).toEqual([2, true])

  aheadMs = STRAY_KEPT_MS + 60_000
  await tendStrays(plane.context)
  expect([listStrays(plane.context), appsRunning(), auditOf('server.stray_ended')]).toEqual([[], 1, 2])
  await until('what they stood on is gone', () => !existsSync(join(data.paths.services, unknown)) && releasesOf(known).length === 2)
  expect(await served('known')).toBe('hello-js 3\n')
})
