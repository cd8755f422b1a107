import { type ClientHttp2Session, connect } from 'node:http2'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ServiceUsage } from '../../../../shared/metrics.ts'
import { call } from '../../../support/client.ts'
import { chooseIngressPorts, type IngressPorts } from '../../../support/ingress.ts'
import { startLoad } from '../../../support/load.ts'
import { type Platform, startPlatform } from '../../../support/platform.ts'
import { hurry, makeSleeper, type Sleeper } from '../../../support/sleeper.ts'
import { frames, openSocket } from '../../../support/socket.ts'
import { until } from '../../../support/until.ts'

const REQUESTS = 100

let platform: Platform
let ports: IngressPorts
beforeAll(async () => {
  ports = await chooseIngressPorts()
  platform = await startPlatform({}, { tls: ports })
})
afterAll(() => platform?.close())

const hostOf = ({ name }: Sleeper) => `${name}.localhost`
const post = (sleeper: Sleeper, bytes: number) =>
  fetch(`http://${platform.ingress.address}/`, { method: 'POST', headers: { host: hostOf(sleeper) }, body: 'x'.repeat(bytes) })

async function stateOf({ id }: Sleeper) {
  const { body } = await call<ServiceUsage[]>(`${platform.url}/v1/metrics`, { token: platform.adminToken })
  return body.find(({ serviceId }) => serviceId === id)?.state
}

async function http2(session: ClientHttp2Session, host: string): Promise<string> {
  const stream = session.request({ ':path': '/', ':authority': host })
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const parts: string[] = []
  stream.setEncoding('utf8')
  stream.on('response', (headers) => void parts.push(`${headers[':status']} `))
  stream.on('data', (part: string) => void parts.push(part))
  stream.on('end', () => resolve(parts.join('')))
  stream.on('error', reject)
  stream.end()
  return await promise
}

describe.each(['freeze', 'stop'] as const)('a service that is to %s while it is idle', (mode) => {
  let sleeper: Sleeper
  beforeAll(async () => {
    sleeper = await makeSleeper(platform, { name: `sleeps-${mode}`, mode, numInstances: 2 })
  })

  test('falls asleep, says so, and is woken by the next request', async () => {
    await sleeper.sleeps()
    const { asleepAt } = (await sleeper.service()).serviceDetails
    expect(Date.parse(asleepAt ?? '')).toBeLessThanOrEqual(Date.now())
    expect(await stateOf(sleeper)).toBe('asleep')
    expect(await sleeper.visit()).toMatchObject({ status: 200, text: expect.stringContaining('sleeper 1') })
    expect((await sleeper.service()).serviceDetails.asleepAt).toBeUndefined()
    await sleeper.settles('running', 'running')
    expect((await sleeper.wakes()).at(-1)).toBe('request')
  })

  test('answers all of 100 requests that come at once, of every protocol', async () => {
    await sleeper.sleeps()
    const session = connect(`https://127.0.0.1:${ports.https}`, { rejectUnauthorized: false, servername: hostOf(sleeper) })
    const plain = Array.from({ length: REQUESTS - 40 }, () => sleeper.visit())
    const streams = Array.from({ length: 20 }, () => http2(session, hostOf(sleeper)))
    const uploads = Array.from({ length: 10 }, () => post(sleeper, 300_000))
    const sockets = Array.from({ length: 10 }, () => openSocket(`http://${platform.ingress.address}/echo`, { host: hostOf(sleeper) }))
    for (const answer of await Promise.all(plain)) expect(answer).toMatchObject({ status: 200, text: expect.stringContaining('sleeper 1') })
    for (const answer of await Promise.all(streams)) expect(answer).toContain('200 sleeper 1')
    for (const answer of await Promise.all(uploads)) expect(await answer.text()).toBe('300000')
    for (const socket of await Promise.all(sockets)) {
      socket.send('hello')
      expect(await frames(socket, 1)).toEqual(['hello'])
      socket.close()
    }
    session.close()
  })

  test('does not fall asleep over a request that is under way, or an open WebSocket', async () => {
    const socket = await openSocket(`http://${platform.ingress.address}/echo`, { host: hostOf(sleeper) })
    expect((await sleeper.visit('/slow')).status).toBe(200)
    await Bun.sleep(3000)
    expect((await sleeper.service()).serviceDetails.asleepAt).toBeUndefined()
    socket.send('still here')
    expect(await frames(socket, 1)).toEqual(['still here'])
    socket.close()
    await sleeper.sleeps()
  })

  test('loses none of the requests that come around the time it falls asleep, again and again', async () => {
    const failures: string[] = []
    for (let round = 0; round < 8; round++) {
      await until('it begins to fall asleep', async () => (await sleeper.service()).serviceDetails.asleepAt !== undefined)
      const load = startLoad({ port: ports.http, host: hostOf(sleeper), ratePerSecond: 50 })
      await load.answered(20)
      await load.stop()
      failures.push(...load.failures())
    }
    expect(failures).toEqual([])
  }, 180_000)

  test('is woken by being scaled, restarted, deployed, and by having its sleep switched off', async () => {
    await sleeper.sleeps()
    await sleeper.ask('/scale', { method: 'POST', json: { numInstances: 1 } })
    await sleeper.settles('running')
    await sleeper.sleeps()
    await sleeper.ask('/restart', { method: 'POST' })
    await until('it is restarted', async () => (await sleeper.events()).some(({ type }) => type === 'server_restarted'))
    await sleeper.sleeps()
    const next = await sleeper.upload('websocket-sse', { VERSION: '2' })
    await sleeper.reaches(next, 'live')
    expect((await sleeper.visit('/')).text).toBe('websocket-sse 2\n')
    await sleeper.sleeps()
    await sleeper.ask('', { method: 'PATCH', json: { serviceDetails: { sleep: { mode: 'off' } } } })
    await sleeper.settles('running')
    await Bun.sleep(2500)
    expect((await sleeper.service()).serviceDetails.asleepAt).toBeUndefined()
    expect((await sleeper.wakes()).filter((because) => because !== 'request')).toEqual(['scale', 'restart', 'deploy', 'settings'])
  })

  test('that fails to be replaced while it sleeps serves as before', async () => {
    await sleeper.ask('', { method: 'PATCH', json: { serviceDetails: { sleep: { mode } } } })
    hurry(platform, sleeper.id)
    await sleeper.sleeps()
    const bad = await sleeper.upload('crashes')
    expect(await sleeper.ends(bad)).toMatchObject({ status: 'update_failed' })
    expect(await sleeper.visit()).toMatchObject({ status: 200, text: 'websocket-sse 2\n' })
  })

  test('is woken by no request that is not let in', async () => {
    await sleeper.ask('', { method: 'PATCH', json: { serviceDetails: { ipAllowList: [{ cidrBlock: '192.0.2.0/24' }] } } })
    await sleeper.sleeps()
    const before = (await sleeper.wakes()).length
    expect((await sleeper.visit()).status).toBe(403)
    expect(await sleeper.wakes()).toHaveLength(before)
    await sleeper.ask('', { method: 'PATCH', json: { serviceDetails: { ipAllowList: [{ cidrBlock: '0.0.0.0/0' }] } } })
  })

  test('can be suspended, resumed and deleted in its sleep', async () => {
    await sleeper.sleeps()
    await sleeper.ask('/suspend', { method: 'POST' })
    await sleeper.settles()
    expect((await sleeper.visit()).text).toContain('has been suspended')
    await sleeper.ask('/resume', { method: 'POST' })
    await until('it serves again', async () => (await sleeper.visit()).status === 200)
    await sleeper.sleeps()
    await sleeper.ask('', { method: 'DELETE' })
    await until('it is gone', () => platform.db.query('SELECT id FROM services WHERE id = ?').get(sleeper.id) === null)
  })
})
