import { type CommitChecks, REPORT_CONTEXT } from '../port.ts'

export interface Check {
  context: string
  state: string
}

const failed: ReadonlySet<string> = new Set(['failure', 'error', 'timed_out', 'cancelled', 'action_required', 'startup_failure', 'stale'])
const passed: ReadonlySet<string> = new Set(['success', 'warning', 'neutral', 'skipped'])

/** What all checks of a commit come to. One that failed decides, and what nobody has checked has not passed. */
export function stateOfChecks(checks: readonly Check[]): CommitChecks {
  const others = checks.filter(({ context }) => !context.startsWith(REPORT_CONTEXT))
  const refused = others.find(({ state }) => failed.has(state))
  if (refused !== undefined) return { state: 'failed', check: refused.context }
  const awaited = others.find(({ state }) => !passed.has(state))
  if (awaited !== undefined) return { state: 'pending', check: awaited.context }
  return { state: others.length > 0 ? 'passed' : 'pending' }
}
