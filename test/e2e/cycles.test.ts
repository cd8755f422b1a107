import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runProcess } from '../../server/platform/process/spawn.ts'

const root = join(import.meta.dirname, '../..')
const TIMEOUT_MS = 240_000

/** In a process of its own: it counts the descriptors of its process, in which other tests run beside this one. */
test('instances and services that were started and ended leave nothing on the machine', { timeout: TIMEOUT_MS }, async () => {
  const command = [process.execPath, 'test/soak/main.ts', 'cycles', '--cycles', '20', '--services', '2']
  const { exitCode, stdout, stderr } = await runProcess(command, {
    cwd: root,
    env: { PATH: process.env.PATH ?? '', TMPDIR: tmpdir() },
    timeoutMs: TIMEOUT_MS,
  })
  expect({ exitCode, stdout, stderr }).toMatchObject({ exitCode: 0, stdout: expect.not.stringContaining('FAILED') })
})
