import { writeFileSync } from 'node:fs'
import type { Reporter, SerializedError, TestModule } from 'vitest/node'

/** Where the errors of a run are written that belong to no test: vitest's own JSON report does not hold them. */
export const STRAY_ERRORS_FILE = 'dist/stray-errors.json'

/** Keeps the first line of every error that nobody caught while tests ran. */
export default class StrayErrors implements Reporter {
  onTestRunEnd(_modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    const lines = errors.map(({ name, message }) => `${name ?? 'Error'}: ${message.split('\n', 1)[0]}`)
    writeFileSync(STRAY_ERRORS_FILE, `${JSON.stringify(lines, null, 2)}\n`)
  }
}
