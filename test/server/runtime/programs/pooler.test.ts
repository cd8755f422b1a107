import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findPooler } from '../../../../server/runtime/programs/pooler.ts'

let dir: string
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'cpd-pooler-'))
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

function saying(text: string): string {
  const path = join(dir, 'pgbouncer')
  writeFileSync(path, `#!/bin/sh\n${text}\n`)
  chmodSync(path, 0o755)
  return path
}

test.each([
  ['echo "PgBouncer 1.24.1"', { version: '1.24.1' }],
  ['echo "PgBouncer 1.21.0"', { version: '1.21.0' }],
  ['echo "PgBouncer 1.18.0"', { missing: expect.stringContaining('The server has 1.18.0') }],
  ['echo "something else 9.9"', { missing: expect.stringContaining('does not run') }],
  ['echo "PgBouncer 1.24.1"; exit 1', { missing: expect.stringContaining('does not run') }],
])('a program that does %s', async (text, found) => {
  expect(await findPooler(saying(text))).toMatchObject(found)
})

test('a program that is not there', async () => {
  expect(await findPooler(join(dir, 'nowhere'))).toMatchObject({ missing: expect.stringContaining('does not run') })
})
