import { afterAll, beforeAll, expect, test } from 'vitest'
import { runProcess } from '../../server/platform/process/spawn.ts'
import type { Postgres, PostgresConnectionInfo } from '../../shared/postgres.ts'
import { createService, deployApp } from '../support/apps.ts'
import { call } from '../support/client.ts'
import { freePorts } from '../support/free-ports.ts'
import { chooseIngressPorts } from '../support/ingress.ts'
import { defaultWorkspaceId } from '../support/members.ts'
import { type Platform, startPlatform } from '../support/platform.ts'
import { probe, proberApp } from '../support/prober.ts'
import { until } from '../support/until.ts'

let platform: Platform
let ownerId: string
const [postgresPort = 0] = freePorts(1)

beforeAll(async () => {
  const tls = await chooseIngressPorts()
  platform = await startPlatform({ CP_ACME_DIRECTORY: 'off', CP_BASE_DOMAIN: 'apps.test' }, { tls, postgresPort })
  ownerId = await defaultWorkspaceId(platform)
}, 60_000)
afterAll(() => platform.close())

const send = async <T>(method: string, path: string, json?: unknown): Promise<T> =>
  (await call<T>(`${platform.url}/v1${path}`, { method, token: platform.adminToken, ...(json !== undefined && { json }) })).body

/** The last line that psql says, who connects from outside. */
async function psql(connection: string, sql: string): Promise<string> {
  const url = new URL(connection)
  const words = [`host=${url.hostname}`, 'hostaddr=127.0.0.1', `port=${url.port}`, `user=${url.username}`, `password=${url.password}`]
  const where = [...words, `dbname=${url.pathname.slice(1)}`, 'sslmode=require'].join(' ')
  const { stdout, stderr } = await runProcess(['psql', '-XAtw', where, '-c', sql])
  return `${stdout}${stderr}`.trim()
}

const everywhere = [{ cidrBlock: '0.0.0.0/0', description: 'everybody' }]

test('a database is reached from outside while it runs and the address is allowed, and by its siblings alone inside', {
  timeout: 180_000,
}, async () => {
  const plan = { ownerId, plan: 'free', version: '18', ipAllowList: everywhere }
  const created = await send<Postgres>('POST', '/postgres', { ...plan, name: 'orders' })
  const { id } = created
  expect(created).toMatchObject({ status: 'creating' })
  await until('it is available', async () => (await send<Postgres>('GET', `/postgres/${id}`)).status === 'available', 60_000)
  const { externalConnectionString: outside } = await send<PostgresConnectionInfo>('GET', `/postgres/${id}/connection-info`)
  await until('the way in is open', async () => (await psql(outside, 'SELECT 40 + 2')) === '42')
  expect(await psql(outside.replace(/\/\/[^:]+:/, '//cpd_admin:'), 'SELECT 1')).toContain("is the platform's own")
  await send('PATCH', `/postgres/${id}`, { ipAllowList: [{ cidrBlock: '10.0.0.0/8', description: 'the office' }] })
  await until('nobody is let in', async () => (await psql(outside, 'SELECT 1')).includes('connections from 127.0.0.1 are not allowed'))
  await send('PATCH', `/postgres/${id}`, { ipAllowList: everywhere })
  await until('it is open again', async () => (await psql(outside, 'SELECT 1')) === '1')
  await send('POST', `/postgres/${id}/suspend`)
  await until('it says so', async () => (await psql(outside, 'SELECT 1')).includes('the database orders is suspended'))
  await send('POST', `/postgres/${id}/resume`)
  await until('it serves again', async () => (await psql(outside, 'SELECT 1')) === '1')

  await deployApp(platform, await createService(platform, { name: 'front' }), await proberApp())
  const asks = async (host: string) => Object.values(await probe(platform, host, [`${id}:5432`]))[0] ?? ''
  await until('siblings reach it', async () => !/ENOTFOUND|EAI_AGAIN|refused/i.test(await asks('front.apps.test')))
  await send('DELETE', `/postgres/${id}`)
  await until('it is known no more', async () => (await psql(outside, 'SELECT 1')).includes('there is no database at'))
})
