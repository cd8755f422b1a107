import { defineConfig } from 'vitest/config'

/** Run under Bun (`bun --bun vitest run --config .vitest.config.ts`): the code under test uses bun:sqlite and Bun.listen. */
const config = defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/fixtures/**'],
    pool: 'threads',
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
})

export default config
