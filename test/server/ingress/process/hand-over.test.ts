import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createIngressClient, type IngressClient } from '../../../../server/ingress/control/client.ts'
import { ownSocketPath, ownSocketPaths } from '../../../../server/ingress/control/names.ts'
import { ensureIngress, type IngressStart } from '../../../../server/ingress/process/supervise.ts'
import { processesOf, processStart } from '../../../../server/platform/process/process-start.ts'
import { startLoad } from '../../../support/load.ts'
import { closed, frames, openSocket } from '../../../support/socket.ts'
import { connectRaw, eventually, proxyTo } from '../world.ts'
import { type Attempt, startEchoUpstream, startMixedLoad } from './hand-over-load.ts'

const ingressProgram = fileURLToPath(new URL('../processes/ingress-program.ts', import.meta.url))

let dir: string
let client: IngressClient
let upstream: ReturnType<typeof startEchoUpstream>
let port: number
let version: number

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'cpd-hand-over-'))
  client = createIngressClient(join(dir, 'ingress.sock'))
  upstream = startEchoUpstream()
  version = 1
  port = 0
  await ensureIngress(wanted())
  port = (await client.status()).listen.port
  await client.publish({ version: 1, hosts: { 'a.test': proxyTo(upstream.port) } })
})

afterEach(async () => {
  upstream.stop()
  const pids = ownSocketPaths(join(dir, 'ingress.sock')).map((path) => Number(/-(\d+)\.sock$/.exec(path)?.[1]))
  await client.shutdown().catch(() => undefined)
  await eventually(() => pids.every((pid) => processStart(pid) === undefined), 40_000)
  rmSync(dir, { recursive: true, force: true })
})

function wanted(): IngressStart {
  return {
    command: [process.execPath, ingressProgram, String(port), join(dir, 'ingress.sock'), join(dir, 'routes.json'), String(version)],
    controlSocketPath: join(dir, 'ingress.sock'),
    outputPath: join(dir, 'ingress.log'),
    listen: { host: '127.0.0.1', port },
    version: String(version),
    log: () => {},
  }
}

/** Replaces the ingress by one of the next version. */
async function handOver(): Promise<void> {
  version++
  await ensureIngress(wanted())
  expect((await client.status()).version).toBe(String(version))
}

/** Resolves with its pid as soon as there is a process of the wanted version. */
async function successorPid(): Promise<number> {
  const { command } = wanted()
  for (;;) {
    const [pid] = processesOf(command)
    if (pid !== undefined) return pid
    await Bun.sleep(1)
  }
}

/** Requests that were not on a connection of the process killed at this moment. */
const unexplained = (failures: Attempt[], kills: readonly number[]): Attempt[] =>
  failures.filter(({ startedAt, doneAt }) => !kills.some((killedAt) => startedAt <= killedAt && doneAt >= killedAt))

test('20 hand-overs under load lose no request: kept-alive and new connections, slow answers, uploads', async () => {
  const keptAlive = startLoad({ port, host: 'a.test', ratePerSecond: 100 })
  const mixed = startMixedLoad(port)
  for (let count = 0; count < 20; count++) {
    await handOver()
    await keptAlive.answered(5)
  }
  await Promise.all([keptAlive.stop(), mixed.stop()])
  expect(keptAlive.failures()).toEqual([])
  expect(mixed.failures()).toEqual([])
  console.info(`20 hand-overs: ${keptAlive.samples.length} requests on kept-alive connections, ${mixed.attempts.length} others, 0 lost`)
}, 120_000)

test('a predecessor killed in the middle of a hand-over costs its own connections, and no new one is refused', async () => {
  const mixed = startMixedLoad(port)
  const kills: number[] = []
  for (let count = 0; count < 10; count++) {
    const { pid } = await client.status()
    version++
    const replaced = ensureIngress(wanted())
    await successorPid()
    await Bun.sleep(Math.random() * 150)
    kills.push(performance.now())
    process.kill(pid, 'SIGKILL')
    await replaced
    expect((await client.status()).version).toBe(String(version))
    await Bun.sleep(100)
  }
  await mixed.stop()
  expect(mixed.failures().filter(({ failure }) => failure?.includes('REFUSED'))).toEqual([])
  expect(unexplained(mixed.failures(), kills)).toEqual([])
  console.info(`10 predecessors killed: ${mixed.attempts.length} requests, ${mixed.failures().length} lost with them`)
}, 120_000)

test('a successor killed before it serves leaves the predecessor serving', async () => {
  const mixed = startMixedLoad(port)
  const kills: number[] = []
  const before = await client.status()
  for (let count = 0; count < 5; count++) {
    version++
    const replaced = ensureIngress(wanted()).then(
      () => 'replaced',
      (error) => error.code,
    )
    const pid = await successorPid()
    await Bun.sleep(Math.random() * 40)
    kills.push(performance.now())
    process.kill(pid, 'SIGKILL')
    expect(await replaced).toBe('unavailable')
    expect(await client.status()).toMatchObject({ pid: before.pid, version: '1' })
  }
  await handOver()
  await mixed.stop()
  expect(unexplained(mixed.failures(), kills)).toEqual([])
}, 120_000)

test('a successor that does not come to serve is named, and the predecessor goes on', async () => {
  const before = await client.status()
  const broken = { ...wanted(), version: '2', command: [process.execPath, '-e', 'console.error("broken at start"); process.exit(3)'] }
  await expect(ensureIngress(broken)).rejects.toMatchObject({ code: 'unavailable', message: expect.stringContaining('broken at start') })
  expect(await client.status()).toEqual(before)
  const connection = await connectRaw(port)
  connection.send('GET / HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n')
  expect((await connection.closed).text).toContain('GET / 0')
})

test('an idle connection outlives the hand-over, follows the routes, and is asked to come again with its next answer', async () => {
  const idle = await connectRaw(port)
  idle.send('GET /1 HTTP/1.1\r\nHost: a.test\r\n\r\n')
  expect(await idle.until((text) => text.includes('GET /1 0 upstream'))).not.toContain('Connection: close')
  await handOver()
  const other = startEchoUpstream('other')
  await client.publish({ version: 2, hosts: { 'a.test': proxyTo(other.port) } })
  await Bun.sleep(50)
  idle.send('GET /2 HTTP/1.1\r\nHost: a.test\r\n\r\n')
  const { text, isReset } = await idle.closed
  expect(text).toContain('GET /2 0 other')
  expect(text).toMatch(/connection: close/i)
  expect(isReset).toBe(false)
  other.stop()
})

test('a WebSocket goes on in the predecessor, counts as busy there, and can be ended like all of its instance', async () => {
  const socket = await openSocket(`http://127.0.0.1:${port}/echo`, { host: 'a.test' })
  await handOver()
  await handOver()
  socket.send('still there?')
  expect(await frames(socket, 1)).toEqual(['still there?'])
  const instanceId = `i-${upstream.port}`
  expect(await client.drainState(instanceId)).toEqual({ inFlight: 0, tunnels: 1 })
  const closing = closed(socket)
  await client.closeTunnels(instanceId)
  expect((await closing).code).toBe(1001)
  await eventually(async () => (await client.drainState(instanceId)).tunnels === 0)
})

test('a predecessor ends when its last client has left, and takes its name away', async () => {
  const { pid } = await client.status()
  await handOver()
  await eventually(() => processStart(pid) === undefined)
  expect(existsSync(ownSocketPath(join(dir, 'ingress.sock'), pid))).toBe(false)
  expect(ownSocketPaths(join(dir, 'ingress.sock'))).toHaveLength(1)
})

test('another address is opened by the successor, and the old one is given up', async () => {
  const probe = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  const oldPort = port
  port = probe.port
  probe.stop(true)
  await handOver()
  expect((await client.status()).listen.port).toBe(port)
  await eventually(async () =>
    connectRaw(oldPort).then(
      (connection) => {
        connection.kill()
        return false
      },
      () => true,
    ),
  )
})

test('hand-overs refuse no connection to a stream, and cut off none', async () => {
  const echo = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: (socket, bytes) => void socket.write(bytes) } })
  const listen = { host: `127.78.${1 + (process.pid % 250)}.9`, port: echo.port }
  const streams = [{ listen, targets: [{ instanceId: 'i', host: '127.0.0.1', port: echo.port }] }]
  await client.publish({ version: 2, hosts: { 'a.test': proxyTo(upstream.port) }, streams })
  const ask = async (word: string) => {
    const answered = Promise.withResolvers<string>()
    const socket = await Bun.connect({
      hostname: listen.host,
      port: listen.port,
      socket: { data: (_, bytes) => answered.resolve(bytes.toString()), close: () => answered.reject(new Error('cut off')) },
    })
    socket.write(word)
    return { socket, answer: await answered.promise }
  }
  const kept = await ask('kept')
  let isOver = false
  let count = 0
  const asking = (async () => {
    for (; !isOver; count++) (await ask('new')).socket.terminate()
  })()
  for (let round = 0; round < 3; round++) await handOver()
  isOver = true
  await asking
  expect(count).toBeGreaterThan(10)
  expect(kept.socket.readyState).toBeGreaterThan(0)
  kept.socket.terminate()
  echo.stop(true)
})
