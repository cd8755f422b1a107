import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { LongestFirst } from './.scripts/longest-first.ts'

const sources = new RegExp(`^${import.meta.dirname}/(server|shared|cli)/`)

/** Much of the tests' time is waiting, so there is one worker more than there are cores; beyond that, what they share is what holds them up. */
const workers = Math.min(availableParallelism(), 8) + 1

/** Run under Bun (`bun --bun vitest run --config .vitest.config.ts`): the code under test uses bun:sqlite and Bun.listen. */
const config = defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/fixtures/**'],
    pool: 'threads',
    maxWorkers: workers,
    sequence: { sequencer: LongestFirst },
    testTimeout: 120_000,
    hookTimeout: 240_000,
    // Bun loads our sources itself: vite knows neither SQL nor files as imports.
    server: { deps: { external: [sources] } },
  },
})

export default config
