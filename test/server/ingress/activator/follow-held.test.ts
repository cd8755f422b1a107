import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { followHeld } from '../../../../server/ingress/activator/follow-held.ts'
import { createIngressClient, type IngressClient } from '../../../../server/ingress/control/client.ts'
import { ownSocketPaths } from '../../../../server/ingress/control/names.ts'
import { ensureIngress } from '../../../../server/ingress/process/supervise.ts'
import type { Route } from '../../../../server/ingress/tables/route-table.ts'
import { processStart } from '../../../../server/platform/process/process-start.ts'
import { connectRaw, eventually, ok, proxyTo, type RawUpstream, startRawUpstream } from '../world.ts'

const ingressProgram = fileURLToPath(new URL('../processes/ingress-program.ts', import.meta.url))
const asleep = (serviceId: string): Route => ({ kind: 'asleep', serviceId, name: serviceId })

let dir: string
let client: IngressClient
let app: RawUpstream
let port: number
let version: number
let told: string[]
let stopper: AbortController
let following: Promise<void>

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'cpd-parked-'))
  client = createIngressClient(join(dir, 'ingress.sock'))
  app = startRawUpstream((socket, text) => {
    if (text.includes('\r\n\r\n')) socket.write(ok('awake'))
  })
  version = 0
  port = 0
  await startNext()
  port = (await client.status()).listen.port
  await client.publish({ version: 1, hosts: { 'a.test': asleep('srv-a'), 'b.test': asleep('srv-b'), 'c.test': asleep('srv-c') } })
  told = []
  stopper = new AbortController()
  following = followHeld({
    controlSocketPath: join(dir, 'ingress.sock'),
    signal: stopper.signal,
    onHeld: (serviceIds) => void told.push(...serviceIds),
  })
})

afterEach(async () => {
  stopper.abort()
  await following
  app.stop()
  const pids = ownSocketPaths(join(dir, 'ingress.sock')).map((path) => Number(/-(\d+)\.sock$/.exec(path)?.[1]))
  await client.shutdown().catch(() => undefined)
  await eventually(() => pids.every((pid) => processStart(pid) === undefined), 40_000)
  rmSync(dir, { recursive: true, force: true })
})

/** Starts the ingress, or the next version of it in its place. */
async function startNext(): Promise<void> {
  version++
  const [socket, routes] = [join(dir, 'ingress.sock'), join(dir, 'routes.json')]
  await ensureIngress({
    command: [process.execPath, ingressProgram, String(port), socket, routes, String(version)],
    controlSocketPath: socket,
    outputPath: join(dir, 'ingress.log'),
    listen: { host: '127.0.0.1', port },
    version: String(version),
    log: () => {},
  })
}

async function ask(host: string) {
  const connection = await connectRaw(port)
  connection.send(`GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
  return connection
}

test('what waits in an ingress and in its successor is heard of, at once, and all of it goes on', async () => {
  const first = await ask('a.test')
  await eventually(() => told.includes('srv-a'))
  await startNext()
  const second = await ask('b.test')
  await eventually(() => told.includes('srv-b'))
  await client.publish({ version: 2, hosts: { 'a.test': proxyTo(app.port), 'b.test': proxyTo(app.port) } })
  for (const connection of [first, second]) expect((await connection.closed).text).toContain('200 OK')
})

test('an ingress that was killed is followed by the next one', async () => {
  const { pid } = await client.status()
  process.kill(pid, 'SIGKILL')
  await eventually(() => processStart(pid) === undefined)
  await startNext()
  const waiting = await ask('c.test')
  await eventually(() => told.includes('srv-c'))
  waiting.kill()
})
