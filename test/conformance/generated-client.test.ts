import { copyFileSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runProcess } from '../../server/platform/process/spawn.ts'
import { startTestServer, type TestServer } from '../support/server.ts'

const root = join(import.meta.dirname, '../..')
const fixture = join(root, 'test/fixtures/openapi-client')
const TIMEOUT_MS = 240_000

let server: TestServer
let dir: string
beforeAll(async () => {
  server = await startTestServer()
  dir = mkdtempSync(join(tmpdir(), 'cpd-openapi-client-'))
  for (const file of ['main.ts', 'tsconfig.json']) copyFileSync(join(fixture, file), join(dir, file))
  symlinkSync(join(root, 'node_modules'), join(dir, 'node_modules'))
})
afterAll(async () => {
  rmSync(dir, { recursive: true, force: true })
  await server.close()
})

async function bun(...args: string[]): Promise<string> {
  const env = { PATH: process.env.PATH ?? '', TMPDIR: tmpdir(), HOME: dir }
  const { exitCode, stdout, stderr } = await runProcess([process.execPath, ...args], { cwd: dir, env, timeoutMs: TIMEOUT_MS })
  expect({ args, exitCode, said: exitCode === 0 ? '' : stdout + stderr }).toEqual({ args, exitCode: 0, said: '' })
  return stdout
}

test('a client generated from the document compiles without casts, and works', { timeout: TIMEOUT_MS }, async () => {
  await bun(join(root, 'test/support/openapi-types-child.ts'), `${server.url}/docs/json`, join(dir, 'schema.d.ts'))
  await bun(join(root, 'node_modules/typescript/bin/tsc'), '-p', dir)
  expect(JSON.parse(await bun('main.ts', server.url, server.adminToken))).toEqual({
    region: 'frankfurt',
    listed: ['typed'],
    keys: ['A'],
    rules: ['0 /a'],
    emptied: 0,
    deploy: 'queued',
    startedAt: 'not yet',
    usage: 0,
    gone: 204,
    code: 'not_found',
  })
})
