import { type CheckState, REPORT_CONTEXT } from '../port.ts'

export interface Check {
  context: string
  state: string
}

const failed: ReadonlySet<string> = new Set(['failure', 'error', 'timed_out', 'cancelled', 'action_required', 'startup_failure', 'stale'])
const passed: ReadonlySet<string> = new Set(['success', 'warning', 'neutral', 'skipped'])

/** What all checks of a commit come to. One that failed decides, and what nobody has checked has not passed. */
export function stateOfChecks(checks: readonly Check[]): CheckState {
  const others = checks.filter(({ context }) => !context.startsWith(REPORT_CONTEXT))
  if (others.some(({ state }) => failed.has(state))) return 'failed'
  return others.length > 0 && others.every(({ state }) => passed.has(state)) ? 'passed' : 'pending'
}
