import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { recordedMs } from './.scripts/durations.ts'
import { LongestFirst } from './.scripts/longest-first.ts'
import { filesOf } from './.scripts/tiers.ts'

const sources = new RegExp(`^${import.meta.dirname}/(server|shared|cli)/`)

/**
 * Most of the tests' time is waiting for processes, disks and clocks: with one worker for each core and one more, a third of the cores' time was
 * idle. What tests promise holds on a busy machine, so there are two for each core, and one more.
 */
const workers = 2 * Math.min(availableParallelism(), 8) + 1

/** New files, and those that repeat and kill for long, have a worker of their own each. */
const shared = [...filesOf('fast'), ...filesOf('system')].filter((file) => recordedMs(file) !== undefined)

/** Run under Bun (`bun --bun vitest run --config .vitest.config.ts`): the code under test uses bun:sqlite and Bun.listen. */
const config = defineConfig({
  test: {
    pool: 'threads',
    globalSetup: ['test/support/children-folder.ts'],
    maxWorkers: workers,
    sequence: { sequencer: LongestFirst },
    testTimeout: 120_000,
    hookTimeout: 240_000,
    // Bun loads our sources itself: vite knows neither SQL nor files as imports.
    server: { deps: { external: [sources] } },
    projects: [
      // Loading the server anew takes 0.8 s of a processor, a third of what a file of these takes. Their worker keeps what it has loaded.
      { extends: true, test: { name: 'shared', include: shared, isolate: false } },
      { extends: true, test: { name: 'alone', include: ['test/**/*.test.ts'], exclude: ['test/fixtures/**', ...shared] } },
    ],
  },
})

export default config
