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
