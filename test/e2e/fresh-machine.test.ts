import { Database } from 'bun:sqlite'
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { pathsOf } from '../../server/platform/paths.ts'
import { runProcess } from '../../server/platform/process/spawn.ts'
import { type AppFolder, copyApp } from '../support/app-folder.ts'
import { call } from '../support/client.ts'
import { type Compiled, type Executables, startCompiled } from '../support/compiled.ts'
import { deployFolder } from '../support/compiled-steps.ts'
import { copyExecutable } from '../support/copy-executable.ts'
import { freePorts } from '../support/free-ports.ts'

/** What every Linux machine has; neither node, npm, bun nor git is among it. */
const SYSTEM_TOOLS = [
  'sh',
  'ls',
  'cat',
  'cp',
  'mv',
  'rm',
  'mkdir',
  'ln',
  'env',
  'sleep',
  'setsid',
  'setpriv',
  'unshare',
  'mount',
  'umount',
  'kill',
]
const SYSTEM_FOLDERS = ['/usr/bin', '/bin', '/usr/sbin', '/sbin']

let dir: string
let executables: Executables
let bareEnv: Record<string, string>
let app: AppFolder
let cpd: Compiled

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'cpd-machine-'))
  const tools = join(dir, 'tools')
  mkdirSync(tools)
  for (const tool of SYSTEM_TOOLS) {
    const found = SYSTEM_FOLDERS.map((folder) => join(folder, tool)).find(existsSync)
    if (found !== undefined) symlinkSync(found, join(tools, tool))
  }
  executables = { cpd: join(dir, 'cpd'), cpctl: join(dir, 'cpctl') }
  for (const name of ['cpd', 'cpctl'] as const) await copyExecutable(`dist/${name}`, executables[name])
  bareEnv = { PATH: tools, HOME: dir }
  app = copyApp('hello-js')
  cpd = await startCompiled({ executables, baseEnv: bareEnv, cwd: '/' })
})

afterAll(async () => {
  app.remove()
  await cpd.stop()
  rmSync(dir, { recursive: true, force: true })
})

/** `cpd serve` that is expected to end by itself. */
async function serve(dataDir: string, { env = {}, ports = freePorts(2) }: { env?: Record<string, string>; ports?: number[] } = {}) {
  const flags = ['--data', dataDir, '--listen', `127.0.0.1:${ports[0]}`, '--ingress', `127.0.0.1:${ports[1]}`]
  return await runProcess([executables.cpd, 'serve', ...flags], { env: { ...bareEnv, ...env }, cwd: '/', timeoutMs: 20_000 })
}

/** One clear line on standard error, no stack, and an exit code that is not 0. */
function expectRefusal({ exitCode, stderr, stdout }: { exitCode: number | null; stderr: string; stdout: string }, reason: RegExp): void {
  const said = stderr.split('\n').filter((line) => line !== '' && !line.startsWith('{') && !line.includes('not guaranteed on this machine'))
  expect(said).toHaveLength(1)
  expect(said[0]).toMatch(/^cpd: /)
  expect(said[0]).toMatch(reason)
  expect(exitCode).toBe(1)
  expect(stdout).not.toContain('ready')
}

test('two files and the tools of the system are enough: the API answers, and a JavaScript app deploys and serves', async () => {
  expect((await call(`${cpd.apiUrl}/api/health`)).body).toMatchObject({ status: 'ok' })
  const output = await deployFolder(cpd, app.dir)
  expect(output).toContain('hello-js is live at http://hello-js.localhost:')
  const answer = await cpd.appFetch('hello-js')
  expect(answer.status).toBe(200)
  expect(await answer.text()).toBe('hello-js 1\n')
})

test('a port that is taken is named', async () => {
  const [free = 0] = freePorts(1)
  const apiPort = Number(new URL(cpd.apiUrl).port)
  expectRefusal(await serve(join(dir, 'taken-api'), { ports: [apiPort, free] }), new RegExp(`${apiPort}: another program uses that port`))
  expectRefusal(
    await serve(join(dir, 'taken-ingress'), { ports: [free, cpd.ingressPort] }),
    new RegExp(`${cpd.ingressPort}: another program uses that port`),
  )
})

test('a data directory that cannot be written is named', async () => {
  const file = join(dir, 'a-file')
  writeFileSync(file, '')
  expectRefusal(await serve(join(file, 'data')), /a-file\/data can't be used .*--data/)
})

test('a database of a newer executable is refused', async () => {
  const data = join(dir, 'newer')
  const paths = pathsOf(data)
  mkdirSync(paths.db, { recursive: true })
  const db = new Database(paths.controlDb, { create: true })
  db.run('PRAGMA user_version = 999')
  db.close()
  expectRefusal(await serve(data), /newer/)
})

test('an unknown CP_ variable and a bad value are named', async () => {
  expectRefusal(await serve(join(dir, 'unknown'), { env: { CP_DATA_DRI: 'x' } }), /CP_DATA_DRI is not a setting/)
  expectRefusal(await serve(join(dir, 'bad'), { env: { CP_DRAIN_SECONDS: 'soon' } }), /CP_DRAIN_SECONDS: "soon" is not a whole number/)
})

test('a second cpd on the same data is refused, and the first goes on', async () => {
  expectRefusal(await serve(cpd.paths.data), /Another cpd already runs on/)
  expect((await call(`${cpd.apiUrl}/api/health`)).status).toBe(200)
})

test('cpd config prints what is in force, and no secret', async () => {
  const env = { ...bareEnv, SERVICE_API_TOKEN: 'a-token-that-nobody-shall-see' }
  const { exitCode, stdout } = await runProcess([executables.cpd, 'config', '--data', '/srv/data'], { env, cwd: '/' })
  expect(exitCode).toBe(0)
  expect(stdout).toMatch(/^CP_DATA_DIR +\/srv\/data$/m)
  expect(stdout).toMatch(/^SERVICE_API_TOKEN +\(set\)$/m)
  expect(stdout).not.toContain('a-token-that-nobody-shall-see')
})

test('cpd doctor tells what holds beside a running cpd', async () => {
  const { stdout, stderr } = await runProcess([executables.cpd, 'doctor', '--quick'], { env: bareEnv, cwd: '/' })
  expect(stderr).toMatch(/^(… [a-z ]+\n)+$/)
  expect(stdout).toMatch(/^ {2}(holds {4}|MISSING {2})Each service runs as a user of its own/m)
  expect(stdout).toMatch(/^ {2}(holds {4}|MISSING {2})Memory is limited to the plan/m)
  expect(stdout).toMatch(/^ {2}yes {2}bun: /m)
  expect((await call(`${cpd.apiUrl}/api/health`)).status).toBe(200)
})
