import { defineConfig } from 'vitest/config'

/** Bun imports these as text by itself; vite would parse them as JavaScript. */
const sqlAsText = {
  name: 'sql-as-text',
  enforce: 'pre' as const,
  transform: (code: string, id: string) => (id.endsWith('.sql') ? `export default ${JSON.stringify(code)}` : undefined),
}

/** Run under Bun (`bun --bun vitest run --config .vitest.config.ts`): the code under test uses bun:sqlite and Bun.listen. */
const config = defineConfig({
  plugins: [sqlAsText],
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
