/** The control plane's own log: one JSON object a line on standard error, for the operator. Secrets never get here. */
export interface ServerLog {
  info(event: string, fields?: Record<string, unknown>): void
  error(event: string, fields?: Record<string, unknown>): void
}

export function createServerLog(write: (line: string) => void): ServerLog {
  const at =
    (level: string) =>
    (event: string, fields: Record<string, unknown> = {}) =>
      write(`${JSON.stringify({ time: new Date().toISOString(), level, event, ...fields })}\n`)
  return { info: at('info'), error: at('error') }
}

export function describeError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { error: String(error) }
  return { error: error.message, stack: error.stack, ...(error.cause === undefined ? {} : { cause: describeError(error.cause) }) }
}
