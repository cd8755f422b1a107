import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { recordedMs } from './.scripts/durations.ts'
import { LongestFirst } from './.scripts/longest-first.ts'
import { filesOf } from './.scripts/tiers.ts'

const sources = new RegExp(`^${import.meta.dirname}/(server|shared|cli)/`)

/** Much of the tests' time is waiting, so there is one worker more than there are cores; beyond that, what they share is what holds them up. */
const workers = Math.min(availableParallelism(), 8) + 1

/** New files are among the others until they are measured. */
const fast = filesOf('fast').filter((file) => recordedMs(file) !== undefined)

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
      // Loading the server anew for each file takes longer than most of these files do. Their worker keeps what it has loaded.
      { extends: true, test: { name: 'fast', include: fast, isolate: false } },
      { extends: true, test: { name: 'others', include: ['test/**/*.test.ts'], exclude: ['test/fixtures/**', ...fast] } },
    ],
  },
})

export default config
