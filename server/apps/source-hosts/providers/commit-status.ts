import { type CommitReport, REPORT_CONTEXT, type ReportState } from '../port.ts'

/** A status as GitHub and Gitea take it. */
export interface CommitStatus {
  state: 'pending' | 'success' | 'failure' | 'error'
  context: string
  description: string
  target_url: string
}

/** That a deploy is no longer live takes nothing from what its commit has achieved. */
const states: Record<ReportState, CommitStatus['state'] | undefined> = {
  queued: 'pending',
  in_progress: 'pending',
  success: 'success',
  failure: 'failure',
  canceled: 'error',
  inactive: undefined,
}

/** What a report says of the commit itself; undefined where that stays as it is. */
export function commitStatusOf({ state, isNewest, environment, description, logUrl }: CommitReport): CommitStatus | undefined {
  const said = states[state]
  if (said === undefined || !isNewest) return undefined
  return { state: said, context: `${REPORT_CONTEXT}${environment}`, description, target_url: logUrl }
}
