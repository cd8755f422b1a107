import { Database } from 'bun:sqlite'
import { existsSync, readdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { markVerified } from '../../../../server/edge/domains/store.ts'
import { pathsOf, servicePathsOf } from '../../../../server/platform/paths.ts'
import { createService, deployApp, packApp, upload } from '../../../support/apps.ts'
import { call } from '../../../support/client.ts'
import { type ControlPlane, startControlPlane } from '../../../support/control-plane.ts'
import { registerTenant, type Tenant } from '../../../support/members.ts'
import { type Platform, startPlatform } from '../../../support/platform.ts'
import { makeProject } from '../../../support/projects.ts'
import type { TestServer } from '../../../support/server.ts'
import { until } from '../../../support/until.ts'

let platform: Platform
beforeAll(async () => {
  platform = await startPlatform()
})
afterAll(() => platform.close())

type Server = Pick<TestServer, 'url' | 'adminToken'>

/** The server as an administrator of the tenant's workspace sees it. */
const as = ({ url }: Pick<Server, 'url'>, { token }: Tenant): Server => ({ url, adminToken: token })

const remove = ({ url }: Pick<Server, 'url'>, { workspaceId, email, token }: Tenant) =>
  call(`${url}/v1/workspaces/${workspaceId}?confirm=${encodeURIComponent(`${email.split('@')[0]}'s workspace`)}`, {
    method: 'DELETE',
    token,
  })

/** Services of every kind, with all that can hang on one. */
async function fill(server: Server, prefix: string): Promise<string[]> {
  const name = (rest: string) => `${prefix}-${rest}`
  const { environmentIds } = await makeProject(server, [
    { name: 'production', protectedStatus: 'protected', networkIsolationEnabled: true },
  ])
  const web = await createService(server, {
    name: name('web'),
    environmentId: environmentIds[0],
    envVars: [{ key: 'SECRET', value: 'planted-value' }],
    secretFiles: [{ name: 'token.txt', content: 'planted' }],
    serviceDetails: { disk: { name: 'data', mountPath: '/var/data', sizeGB: 1 } },
  })
  await deployApp(server, web, await packApp('hello-js'))
  const plain = await createService(server, { name: name('plain') })
  await deployApp(server, plain, await packApp('hello-js'))
  const cron = await createService(server, {
    name: name('cron'),
    type: 'cron_job',
    serviceDetails: { schedule: '@yearly', envSpecificDetails: { startCommand: 'sleep 60' } },
  })
  await deployApp(server, cron, await packApp('hello-js'))
  await call(`${server.url}/v1/cron-jobs/${cron}/runs`, { method: 'POST', token: server.adminToken })
  const building = await createService(server, {
    name: name('building'),
    serviceDetails: { runtime: 'node', envSpecificDetails: { buildCommand: 'sleep 60' } },
  })
  await upload(server, building, await packApp('hello-js'))
  const never = await createService(server, { name: name('never'), type: 'private_service' })
  return [web, plain, cron, building, never]
}

/** Every place of a database where one of these stands, as table.column; what the audit log tells stays. */
function mentions(db: Database, wanted: readonly string[]): string[] {
  const tables = db
    .query<{ name: string }, []>(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'audit_%' AND name NOT LIKE 'sqlite_%'",
    )
    .all()
  return tables.flatMap(({ name: table }) =>
    db
      .query<{ name: string }, []>(`SELECT name FROM pragma_table_info('${table}')`)
      .all()
      .filter(({ name: column }) =>
        wanted.some((id) => db.query(`SELECT 1 FROM "${table}" WHERE instr("${column}", ?) > 0 LIMIT 1`).get(id) !== null),
      )
      .map(({ name: column }) => `${table}.${column}`),
  )
}

function mentionsIn(path: string, wanted: readonly string[]): string[] {
  const db = new Database(path)
  try {
    return mentions(db, wanted)
  } finally {
    db.close()
  }
}

test('deleting a workspace leaves nothing of it: no process, route, file, disk, log line or row', async () => {
  const { context } = platform
  const { db, paths } = context
  const neighbour = await createService(platform, { name: 'neighbour' })
  await deployApp(platform, neighbour, await packApp('hello-js'))
  const tenant = await registerTenant(platform, 'doomed@example.com')
  const own = as(platform, tenant)
  const serviceIds = await fill(own, 'doomed')
  const [web = ''] = serviceIds
  const domain = await call<[{ id: string }]>(`${own.url}/v1/services/${web}/custom-domains`, {
    json: { name: 'www.doomed.example.com' },
    token: own.adminToken,
  })
  markVerified(db, domain.body[0].id, Date.now())
  await context.routes.publish()
  // The disk of a service that was deleted before is kept for days otherwise.
  const earlier = await createService(own, {
    name: 'doomed-earlier',
    serviceDetails: { disk: { name: 'old', mountPath: '/var/data', sizeGB: 1 } },
  })
  await until('its disk is there', async () => readdirSync(paths.disks).length >= 2)
  await call(`${own.url}/v1/services/${earlier}`, { method: 'DELETE', token: own.adminToken })
  expect(await platform.ingress.visit('doomed-plain.localhost')).toMatchObject({ status: 200 })
  expect(await platform.ingress.visit('www.doomed.example.com')).toMatchObject({ status: 200 })

  expect((await remove(platform, tenant)).status).toBe(204)
  expect((await call(`${own.url}/v1/services`, { token: own.adminToken })).status).toBe(401)
  await until('the workspace is gone', () => db.query('SELECT id FROM workspaces WHERE id = ?').get(tenant.workspaceId) === null, 60_000)

  const all = [...serviceIds, earlier]
  expect(mentions(db, [tenant.workspaceId, ...all])).toEqual([])
  expect(mentionsIn(paths.logsDb, all)).toEqual([])
  // The readings it remembers are replaced with each sweep, every ten seconds.
  await expect.poll(() => mentionsIn(paths.metricsDb, all), { timeout: 30_000 }).toEqual([])
  expect(readdirSync(paths.disks)).toEqual([])
  for (const id of all) expect(existsSync(servicePathsOf(paths, id).root)).toBe(false)
  expect((await context.engine.list()).filter(({ instanceId }) => !instanceId.startsWith(neighbour))).toEqual([])
  for (const host of ['doomed-plain.localhost', 'doomed-web.localhost', 'www.doomed.example.com'])
    expect(await platform.ingress.visit(host)).toMatchObject({ status: 404 })
  expect(await platform.ingress.visit('neighbour.localhost')).toMatchObject({ status: 200 })
  expect(db.query("SELECT count(*) AS count FROM audit_log WHERE event = 'workspace.removed'").get()).toEqual({ count: 1 })
}, 180_000)

test('a control plane that is killed while it removes a workspace goes on at its next start', async () => {
  const plane: ControlPlane = await startControlPlane({ CP_REGISTRATION: 'open' })
  try {
    for (const [index, moment] of [0, 60, 300].entries()) {
      const tenant = await registerTenant(plane as unknown as TestServer, `doomed${index}@example.com`)
      const serviceIds = await fill(as(plane, tenant), `doomed${index}`)
      expect((await remove(plane, tenant)).status).toBe(204)
      await sleep(moment)
      await plane.kill()
      await plane.start()
      const { services, disks, controlDb } = pathsOf(plane.dataDir, undefined)
      await until('its folders are gone', () => readdirSync(services).length === 0 && readdirSync(disks).length === 0, 60_000)
      await until('it is told to be removed', async () => {
        const told = await call<{ auditLog: { target: string } }[]>(`${plane.url}/v1/audit-logs?event=workspace.removed`, {
          token: plane.adminToken,
        })
        return told.body.some(({ auditLog }) => auditLog.target === tenant.workspaceId)
      })
      for (const rest of ['web', 'plain'])
        expect(await plane.ingress.visit(`doomed${index}-${rest}.localhost`)).toMatchObject({ status: 404 })
      // Nobody else can look into its database while it runs.
      await plane.kill()
      expect(mentionsIn(controlDb, [tenant.workspaceId, ...serviceIds])).toEqual([])
      await plane.start()
    }
  } finally {
    await plane.close()
  }
}, 240_000)
