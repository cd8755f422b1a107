import { describeError, type ServerLog } from '../server-log.ts'

/** Errors that nobody caught, within the window, after which a process is no longer to be trusted. */
export const MAX_ERRORS = 300
export const ERROR_WINDOW_MS = 10_000
/** EX_SOFTWARE of sysexits.h. */
const EXIT_CODE = 70

export function createErrorBudget(now: () => number): { mayGoOn(): boolean } {
  let begunAt = Number.NEGATIVE_INFINITY
  let count = 0
  return {
    mayGoOn() {
      if (now() - begunAt >= ERROR_WINDOW_MS) {
        begunAt = now()
        count = 0
      }
      count += 1
      return count <= MAX_ERRORS
    },
  }
}

/** Logs errors that nobody caught, as everybody's requests depend on this process. A burst of them ends it, to be started anew. */
export function surviveErrors(log: Pick<ServerLog, 'error'>): void {
  const budget = createErrorBudget(() => performance.now())
  const survive = (event: string) => (error: unknown) => {
    log.error(event, describeError(error))
    if (!budget.mayGoOn()) process.exit(EXIT_CODE)
  }
  process.on('uncaughtException', survive('uncaught error'))
  process.on('unhandledRejection', survive('unhandled rejection'))
  // Where a full disk takes no line of the log, saying so would be the next error, and so on until the budget is spent.
  for (const output of [process.stdout, process.stderr]) output.on('error', () => {})
}
