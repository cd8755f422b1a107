import { expect, test } from 'vitest'
import { testAsOrdinaryUser } from '../../../support/ordinary-user.ts'

const TIMEOUT_MS = 300_000

test(
  'disks are folders of the same kind without root',
  async () => {
    // Whoever runs all tests as an ordinary user has run them so already.
    if (process.getuid?.() !== 0) return
    const { exitCode, output } = await testAsOrdinaryUser('test/server/apps/disks/whatever-machine.test.ts', TIMEOUT_MS)
    expect(exitCode, output).toBe(0)
  },
  TIMEOUT_MS,
)
