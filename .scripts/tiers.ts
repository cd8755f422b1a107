import { recordedMs } from './durations.ts'

export const tiers = ['fast', 'system', 'soak'] as const
export type Tier = (typeof tiers)[number]

const SYSTEM_FROM_MS = 2500
const SOAK_FROM_MS = 30_000

/**
 * The tier of a test file: `fast` is what one runs all day, `soak` what repeats or kills for half a minute and longer, `system` the rest.
 * A file that nobody has measured yet is told by its folder.
 */
export function tierOf(file: string, ms: number | undefined): Tier {
  if (ms === undefined) return /^test\/(e2e|engines|schemathesis|security)\//.test(file) ? 'system' : 'fast'
  if (ms >= SOAK_FROM_MS) return 'soak'
  return ms >= SYSTEM_FROM_MS ? 'system' : 'fast'
}

/** Paths of all test files of a tier, from the folder of the project. */
export const filesOf = (tier: Tier): string[] =>
  [...new Bun.Glob('test/**/*.test.ts').scanSync(`${import.meta.dirname}/..`)].filter(
    (file) => !file.startsWith('test/fixtures/') && tierOf(file, recordedMs(file)) === tier,
  )
