import { lstat, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ensureSelfToolchain } from '../../../../server/builders/toolchains/self-toolchain.ts'
import { FROM_FIRST_PACKAGE } from '../../../../server/builders/toolchains/stand-in.ts'
import type { Toolchains } from '../../../../server/builders/toolchains/tool.ts'
import { DEFAULT_TOOLCHAIN_PATH, findToolchains } from '../../../../server/builders/toolchains/toolchains.ts'
import { warmGoCache } from '../../../support/go-cache.ts'
import { type Built, firstAnswer, openWorkbench, type Workbench } from './workbench.ts'

const TIMEOUT_MS = 300_000
const tellBlocked = `bun pm untrusted 2>&1 | ${FROM_FIRST_PACKAGE}`

let toolchainDir: string
let bench: Workbench
/** Without any Node there is only our own executable. */
let bareBench: Workbench

beforeAll(async () => {
  toolchainDir = await ensureSelfToolchain({ dir: await mkdtemp(join(tmpdir(), 'toolchain-')), executable: process.execPath })
  const toolchains: Toolchains = await findToolchains({
    searchPath: DEFAULT_TOOLCHAIN_PATH,
    homes: [homedir()],
    selfToolchainDir: toolchainDir,
  })
  bench = await openWorkbench(toolchains)
  bareBench = await openWorkbench(await findToolchains({ searchPath: [], homes: [], selfToolchainDir: toolchainDir }))
})
afterAll(async () => {
  await bench.close()
  await bareBench.close()
  await rm(toolchainDir, { recursive: true, force: true })
})

const told = (built: Built): string => `${built.log.join('\n')}\n${built.output}`

test('hello-js is built by nothing and answers', { timeout: TIMEOUT_MS }, async () => {
  const built = await bench.build('hello-js')
  expect(built.plan).toMatchObject({ runtime: 'node', steps: [] })
  expect(await firstAnswer(built)).toBe('hello-js 1\n')
})

test.each(['ignores-sigterm', 'counter', 'websocket-sse', 'hostile', 'pre-deploy-fails'])(
  '%s needs no build and answers with its name and version',
  { timeout: TIMEOUT_MS },
  async (name) => {
    const built = await bench.build(name)
    expect(built.plan.steps).toEqual([])
    expect(await firstAnswer(built)).toMatch(new RegExp(`^${name} 1\\b`))
  },
)

test('hello-js answers by our own executable alone for a service that wants Bun', { timeout: TIMEOUT_MS }, async () => {
  const built = await bareBench.build('hello-js', { runtime: 'bun' })
  expect(built.plan).toMatchObject({ runtime: 'bun', startCommand: 'node server.js' })
  expect(await firstAnswer(built)).toBe('hello-js 1\n')
})

test('express is installed by npm and answers from another folder', { timeout: TIMEOUT_MS }, async () => {
  const built = await bench.build('express')
  expect(built.plan.steps.map((step) => step.command)).toEqual(['npm ci'])
  expect(await firstAnswer(built), told(built)).toBe('express 1\n')
})

test('express is put in place from what an earlier build of the same lock file installed, as copies', { timeout: TIMEOUT_MS }, async () => {
  await bench.build('express')
  const again = await bench.build('express')
  expect(again.output).toContain('Dependencies are those of an earlier build: package-lock.json, package.json')
  expect((await lstat(join(again.releaseDir, 'node_modules/express/index.js'))).nlink).toBe(1)
  expect(await firstAnswer(again), told(again)).toBe('express 1\n')
})

test('express is installed and run by our own executable for a service that wants Bun', { timeout: TIMEOUT_MS }, async () => {
  const built = await bareBench.build('express', { runtime: 'bun' })
  expect(built.plan.steps.map((step) => step.command)).toEqual(['bun install --backend=copyfile', tellBlocked])
  expect(await firstAnswer(built), told(built)).toBe('express 1\n')
})

test('bun-server is installed by its bun.lock, shares no file with the cache and answers', { timeout: TIMEOUT_MS }, async () => {
  const built = await bench.build('bun-server')
  expect(built.plan).toMatchObject({ runtime: 'bun', packageManager: 'bun' })
  expect((await lstat(join(built.releaseDir, 'node_modules/ms/index.js'))).nlink).toBe(1)
  expect(await firstAnswer(built), told(built)).toMatch(/^bun-server 1, up for [\d.]+m?s\n$/)
})

test('flask is installed into an environment that survives the move', { timeout: TIMEOUT_MS }, async () => {
  const built = await bench.build('flask')
  expect(built.plan.startCommand).toBe('gunicorn --bind 127.0.0.1:$PORT --workers 1 app:app')
  expect(await readFile(join(built.releaseDir, '.venv/bin/gunicorn'), 'utf8')).not.toContain(bench.box)
  expect(await firstAnswer(built), told(built)).toBe('flask 1\n')
})

test('go-module is compiled with its module and answers', { timeout: TIMEOUT_MS }, async () => {
  await warmGoCache(join(bench.box, 'cache/go-build'))
  const built = await bench.build('go-module')
  expect(await firstAnswer(built), told(built)).toMatch(/^go-module 1 [0-9a-f-]{36}\n$/)
})

test('rust-crate is compiled with its crate, leaves its target folder in the cache and answers', { timeout: TIMEOUT_MS }, async () => {
  const built = await bench.build('rust-crate')
  expect(await readdir(built.releaseDir)).not.toContain('target')
  expect(await firstAnswer(built), told(built)).toBe('rust-crate 1 request 1\n')
})

test('vite-static is built and only its dist folder becomes the release', { timeout: TIMEOUT_MS }, async () => {
  const built = await bench.build('vite-static', { type: 'static_site' })
  expect((await readdir(built.releaseDir)).sort()).toEqual(['assets', 'index.html'])
  expect(await readFile(join(built.releaseDir, 'index.html'), 'utf8')).toMatch(/vite-static 1[\s\S]*\/assets\/index-/)
  expect(built.plan.startCommand).toBeUndefined()
})

test('build-fails fails with its step and exit code', { timeout: TIMEOUT_MS }, async () => {
  await expect(bench.build('build-fails')).rejects.toThrow('Build failed: npm run build exited with 3; see the build log')
})
