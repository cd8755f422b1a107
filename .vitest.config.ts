import { defineConfig } from 'vitest/config'
import { LongestFirst } from './.scripts/longest-first.ts'

const sources = new RegExp(`^${import.meta.dirname}/(server|shared|cli)/`)

/** Run under Bun (`bun --bun vitest run --config .vitest.config.ts`): the code under test uses bun:sqlite and Bun.listen. */
const config = defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/fixtures/**'],
    pool: 'threads',
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    testTimeout: 120_000,
    hookTimeout: 240_000,
    // Bun loads our sources itself: vite knows neither SQL nor files as imports.
    server: { deps: { external: [sources] } },
  },
})

export default config
