import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type SpawnedProcess, spawnProcess } from '../../server/platform/process/spawn.ts'
import { call } from '../support/client.ts'
import { freePorts } from '../support/free-ports.ts'
import { leftoversOf, processesOf } from '../support/leftovers.ts'
import { until } from '../support/until.ts'

let dataDir: string
let script: SpawnedProcess
let printed = ''
const [apiPort = 0, ingressPort = 0] = freePorts(2)

beforeAll(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'cpd-npm-start-'))
  const { PATH = '', HOME = '' } = process.env
  script = spawnProcess([process.execPath, '.scripts/start.ts'], {
    env: { PATH, HOME, CP_DATA_DIR: dataDir, CP_LISTEN: `127.0.0.1:${apiPort}`, CP_INGRESS_HTTP: `127.0.0.1:${ingressPort}` },
    stdout: 'pipe',
    stderr: 'stdout',
  })
  void collect(script.stdout)
})

afterAll(() => {
  for (const pid of processesOf(dataDir)) process.kill(pid, 'SIGKILL')
  rmSync(dataDir, { recursive: true, force: true })
})

async function collect(stream: ReadableStream<Uint8Array> | undefined): Promise<void> {
  const decoder = new TextDecoder()
  for await (const bytes of stream ?? []) printed += decoder.decode(bytes, { stream: true })
}

test('npm start prints the address, the login and the sample app, all of which work, and SIGTERM ends all of it', async () => {
  await until('the block is printed', () => printed.includes('Ctrl-C stops everything'))
  const [, apiUrl = ''] = /API +(\S+)/.exec(printed) ?? []
  const [, email = '', password = ''] = /Login +(\S+) \/ (\S+)/.exec(printed) ?? []
  const [, sampleUrl = ''] = /Sample app +(\S+)/.exec(printed) ?? []
  expect(apiUrl).toBe(`http://localhost:${apiPort}`)
  expect((await call(`${apiUrl}/v1/auth/login`, { json: { email, password } })).status).toBe(200)
  expect(sampleUrl).toBe(`http://hello.localhost:${ingressPort}`)
  const sample = await fetch(`http://127.0.0.1:${ingressPort}/`, { headers: { host: new URL(sampleUrl).host } })
  expect(await sample.text()).toBe('hello-js 1\n')
  expect((await fetch(`${apiUrl}/docs`)).status).toBe(200)

  script.kill('SIGTERM')
  expect((await script.exited).exitCode).toBe(0)
  // The ingress gives up its address at once, and then answers what it has begun.
  await until('nothing of it is left', () => leftoversOf(dataDir).length === 0)
})
