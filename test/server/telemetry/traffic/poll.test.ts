import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createIngressClient } from '../../../../server/ingress/control/client.ts'
import { ensureIngress, type IngressStart } from '../../../../server/ingress/process/supervise.ts'
import { startTrafficPoll } from '../../../../server/telemetry/traffic/poll.ts'
import type { Repeated } from '../../../../server/telemetry/traffic/repeated.ts'
import { createSampler, type Sampler } from '../../../../server/telemetry/traffic/sampler.ts'
import { until } from '../../../support/until.ts'
import { connectRaw, exchangeRaw, ok, type RawUpstream, startRawUpstream } from '../../ingress/world.ts'

const program = fileURLToPath(import.meta.resolve('../../ingress/processes/ingress-program.ts'))

let dir: string
let port: number
let upstream: RawUpstream
let releaseSlow: () => void
let sampler: Sampler
let poll: Repeated
const errors: unknown[] = []

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'cpd-poll-'))
  errors.length = 0
  upstream = startRawUpstream((socket, text) => {
    if (text.includes('/slow')) releaseSlow = () => void socket.end(ok('slow'))
    else if (text.endsWith('\r\n\r\n')) socket.end(ok('fast'))
  })
  const listener = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  port = listener.port
  listener.stop(true)
  sampler = createSampler()
  poll = startTrafficPoll({ sampler, controlSocketPath: socketPath(), now: Date.now, onError: (error) => errors.push(error), pollMs: 20 })
})
afterEach(async () => {
  await poll.stop()
  await createIngressClient(socketPath())
    .shutdown()
    .catch(() => undefined)
  await until('no ingress is left', () => readdirSync(dir).filter((name) => name.endsWith('.sock')).length === 0)
  upstream.stop()
  rmSync(dir, { recursive: true, force: true })
  expect(errors).toEqual([])
})

const socketPath = (): string => join(dir, 'ingress.sock')
const ingress = (version: string): IngressStart => ({
  command: [process.execPath, program, String(port), socketPath(), join(dir, 'routes.json'), version],
  controlSocketPath: socketPath(),
  outputPath: join(dir, 'ingress.log'),
  listen: { host: '127.0.0.1', port },
  version,
  log: () => {},
})
const ask = () => exchangeRaw(port, 'GET / HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n')
/** From the first request on. */
const counted = (): number => sampler.since(['i'], startedAt).requests
let startedAt = 0

async function startFirst(): Promise<void> {
  startedAt = Date.now()
  const client = await ensureIngress(ingress('1'))
  const targets = [{ instanceId: 'i', host: '127.0.0.1', port: upstream.port }]
  await client.publish({ version: 1, hosts: { 'a.test': { kind: 'proxy', serviceId: 'srv-a', name: 'shop', targets } } })
}

test('counts of an ingress and of its successor are added, the last ones of the first included', async () => {
  await startFirst()
  for (let count = 0; count < 10; count++) await ask()
  const slow = await connectRaw(port)
  slow.send('GET /slow HTTP/1.1\r\nHost: a.test\r\n\r\n')
  await until('it is under way', () => upstream.received().includes('/slow'))
  await ensureIngress(ingress('2'))
  for (let count = 0; count < 5; count++) await ask()
  await until('both are counted', () => counted() === 15)
  expect(new Set([...sampler.all()].map(({ epoch }) => epoch)).size).toBe(2)
  releaseSlow()
  await slow.closed
  await until('the last one is counted', () => counted() === 16)
  await until('what the first one left is taken', () => readdirSync(dir).filter((name) => name.includes('last-counts')).length === 0)
})

test('what an ingress counted while nobody looked is known after it has ended', async () => {
  await poll.stop()
  await startFirst()
  for (let count = 0; count < 3; count++) await ask()
  await createIngressClient(socketPath()).shutdown()
  const [left = ''] = await until('it has left its counts', () => {
    const names = readdirSync(dir).filter((name) => /^last-counts-.*\.json$/.test(name))
    return names.length > 0 && names
  })
  expect(JSON.parse(readFileSync(join(dir, left), 'utf8'))).toHaveProperty('epoch')
  await poll.poll()
  expect(counted()).toBe(3)
  expect(readdirSync(dir)).not.toContain(left)
  // Another reading of the same adds nothing.
  await poll.poll()
  expect(counted()).toBe(3)
})

test('without any ingress there is nothing to tell, and no error', async () => {
  await poll.poll()
  expect([...sampler.all()]).toEqual([])
})
