import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createIngressClient } from '../../../../server/ingress/control/client.ts'
import { ensureIngress, type IngressStart, watchIngress } from '../../../../server/ingress/process/supervise.ts'
import { processAgeMs } from '../../../../server/platform/process/process-start.ts'
import { spawnProcess } from '../../../../server/platform/process/spawn.ts'
import { eventually, exchangeRaw } from '../world.ts'

let dir: string
let logged: string[]

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'cpd-supervise-'))
  logged = []
})

afterEach(async () => {
  const client = createIngressClient(join(dir, 'ingress.sock'))
  await client.shutdown().catch(() => undefined)
  rmSync(dir, { recursive: true, force: true })
})

const ingressProgram = fileURLToPath(new URL('../processes/ingress-program.ts', import.meta.url))
const controlPlaneProgram = fileURLToPath(new URL('../processes/control-plane-program.ts', import.meta.url))

function wanted(version = '1', port = 0): IngressStart {
  const controlSocketPath = join(dir, 'ingress.sock')
  return {
    command: [process.execPath, ingressProgram, String(port), controlSocketPath, join(dir, 'routes.json'), version],
    controlSocketPath,
    outputPath: join(dir, 'ingress.log'),
    listen: { host: '127.0.0.1', port },
    version,
    log: (message) => logged.push(message),
  }
}

test('an ingress is started once and taken over after that', async () => {
  const first = await (await ensureIngress(wanted())).status()
  expect(first).toMatchObject({ version: '1', listen: { host: '127.0.0.1' } })
  expect(first.pid).not.toBe(process.pid)
  expect(await (await ensureIngress(wanted())).status()).toEqual(first)
})

test('one of another version is replaced', async () => {
  const first = await (await ensureIngress(wanted('1'))).status()
  const second = await (await ensureIngress(wanted('2'))).status()
  expect(second.version).toBe('2')
  expect(second.pid).not.toBe(first.pid)
})

test('one at another address is replaced', async () => {
  const { listen } = await (await ensureIngress(wanted())).status()
  const probe = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  const port = probe.port
  probe.stop(true)
  expect(port).not.toBe(listen.port)
  expect((await (await ensureIngress(wanted('1', port))).status()).listen.port).toBe(port)
})

test('a port that is taken is named', async () => {
  const taken = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  await expect(ensureIngress(wanted('1', taken.port))).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining(`cannot listen at 127.0.0.1:${taken.port}: another program uses that port`),
  })
  taken.stop(true)
})

test('an ingress that serves but cannot be talked to is replaced', async () => {
  const probe = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  probe.stop(true)
  const first = await (await ensureIngress(wanted('1', probe.port))).status()
  rmSync(join(dir, 'ingress.sock'))
  const second = await (await ensureIngress(wanted('1', probe.port))).status()
  expect(second.pid).not.toBe(first.pid)
  expect(second.listen).toEqual(first.listen)
})

test('a program that cannot be started is named', async () => {
  await expect(ensureIngress({ ...wanted(), command: [join(dir, 'absent')] })).rejects.toMatchObject({ code: 'unavailable' })
})

test('the ingress outlives a control plane that is killed', async () => {
  const { log: _log, ...start } = wanted()
  const controlPlane = spawnProcess([process.execPath, controlPlaneProgram, JSON.stringify(start)], { stdout: 'pipe' })
  await controlPlane.stdout?.getReader().read()
  const client = createIngressClient(start.controlSocketPath)
  const before = await client.status()
  controlPlane.kill('SIGKILL')
  await controlPlane.exited
  expect(await client.status()).toEqual(before)
  const { text } = await exchangeRaw(before.listen.port, 'GET / HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n')
  expect(text).toContain('404 Not Found')
  expect((await (await ensureIngress(wanted())).status()).pid).toBe(before.pid)
})

test('a killed ingress is started anew and serves the last table', async () => {
  const stop = new AbortController()
  const client = await ensureIngress(wanted())
  await client.publish({ version: 9, hosts: { 'a.test': { kind: 'suspended', serviceId: 'srv-a', name: 'sleeper' } } })
  const before = await client.status()
  const watching = watchIngress({ ...wanted(), signal: stop.signal })
  process.kill(before.pid, 'SIGKILL')
  await eventually(async () => {
    const now = await client.status().catch(() => undefined)
    return now !== undefined && now.pid !== before.pid
  }, 20_000)
  const after = await client.status()
  expect(after.routesVersion).toBe(9)
  expect((await exchangeRaw(after.listen.port, 'GET / HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n')).text).toContain('503')
  stop.abort()
  await watching
})

test('a predecessor that finishes what it has is not taken for one that arrives', async () => {
  const probe = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  probe.stop(true)
  const start = wanted('1', probe.port)
  const client = await ensureIngress(start)
  const first = await client.status()
  const held = await Bun.connect({ hostname: '127.0.0.1', port: first.listen.port, socket: { data() {} } })
  held.write('GET / HTTP/1.1\r\nHost: a.test\r\n\r\n')
  await client.handOver({ command: [...start.command], env: {}, outputPath: start.outputPath })
  const second = await client.status()
  process.kill(second.pid, 'SIGKILL')
  const third = await (await ensureIngress(start)).status()
  expect(third.pid).not.toBe(second.pid)
  // The ingress would have been waited for until it was too old for one.
  expect(processAgeMs(first.pid)).toBeLessThan(10_000)
  held.terminate()
})

test('an ingress that is killed again and again is started at once each time: only starts that come to nothing are waited for', async () => {
  const stop = new AbortController()
  const client = await ensureIngress(wanted())
  const watching = watchIngress({ ...wanted(), signal: stop.signal, timings: { stableMs: 50 } })
  // Were they taken for starts that failed, the last one would wait for the longest delay there is.
  for (let kill = 0; kill < 8; kill++) {
    const { pid } = await client.status()
    await Bun.sleep(400)
    process.kill(pid, 'SIGKILL')
    await eventually(async () => {
      const now = await client.status().catch(() => undefined)
      return now !== undefined && now.pid !== pid
    }, 4_000)
  }
  stop.abort()
  await watching
})

test('an ingress that has stopped answering is killed and started anew', async () => {
  const stop = new AbortController()
  const client = await ensureIngress(wanted())
  const before = await client.status()
  const watching = watchIngress({ ...wanted(), signal: stop.signal, timings: { askEveryMs: 50, askTimeoutMs: 100 } })
  await Bun.sleep(200)
  process.kill(before.pid, 'SIGSTOP')
  await eventually(async () => {
    const now = await client.status().catch(() => undefined)
    return now !== undefined && now.pid !== before.pid
  }, 40_000)
  stop.abort()
  await watching
})
