import { expect, test } from 'vitest'
import { testAsOrdinaryUser } from '../../../support/ordinary-user.ts'

const TIMEOUT_MS = 300_000

test.each(['test/server/apps/jobs/jobs.test.ts', 'test/server/apps/jobs/recovery.test.ts'])(
  'all of %s holds without root and control groups, too',
  async (file) => {
    // Whoever runs all tests as an ordinary user has run them so already.
    if (process.getuid?.() !== 0) return
    const { exitCode, output } = await testAsOrdinaryUser(file, TIMEOUT_MS)
    expect(exitCode, output).toBe(0)
  },
  TIMEOUT_MS,
)
