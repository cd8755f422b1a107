import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { spawnProcess } from '../../../../server/platform/process/spawn.ts'
import { createErrorBudget, ERROR_WINDOW_MS, MAX_ERRORS } from '../../../../server/platform/process/survive.ts'

test('errors that nobody caught end a process only in a burst', () => {
  let now = 0
  const budget = createErrorBudget(() => now)
  for (let window = 0; window < 3; window += 1) {
    for (let error = 0; error < MAX_ERRORS; error += 1) expect(budget.mayGoOn()).toBe(true)
    now += ERROR_WINDOW_MS
  }
  for (let error = 0; error < MAX_ERRORS; error += 1) budget.mayGoOn()
  expect(budget.mayGoOn()).toBe(false)
})

test('a log that takes no more, on a full disk, ends nothing', async () => {
  const program = [
    `import { surviveErrors } from ${JSON.stringify(resolve('server/platform/process/survive.ts'))}`,
    "surviveErrors({ error: (event) => void process.stdout.write(event + '\\n') })",
    'for (let line = 0; line < 3; line++) {',
    "  process.stdout.write('a line\\n')",
    "  process.stderr.write('a line\\n')",
    '  await Bun.sleep(20)',
    '}',
    'process.exit(0)',
  ].join('\n')
  const child = spawnProcess([process.execPath, '-e', program], {
    env: { PATH: '/usr/bin:/bin', BUN_BE_BUN: '1' },
    stdout: { appendTo: '/dev/full' },
    stderr: 'stdout',
  })
  expect(await child.exited).toMatchObject({ exitCode: 0 })
})
