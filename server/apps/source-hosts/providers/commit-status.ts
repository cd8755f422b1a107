import { type CommitReport, REPORT_CONTEXT, type ReportState } from '../port.ts'

/** A status as GitHub and Gitea take it. */
export interface CommitStatus {
  state: 'pending' | 'success' | 'failure' | 'error'
  context: string
  description: string
  target_url: string
}

/** That a deploy is no longer live takes nothing from what its commit has achieved: it was live. */
const states: Record<ReportState, CommitStatus['state']> = {
  queued: 'pending',
  in_progress: 'pending',
  success: 'success',
  failure: 'failure',
  canceled: 'error',
  inactive: 'success',
}

/** What a report says of the commit itself; undefined where that stays as it is. */
export function commitStatusOf({ state, before, isNewest, environment, description, logUrl }: CommitReport): CommitStatus | undefined {
  const isSaid = state === 'inactive' && before === 'success'
  if (isSaid || !isNewest) return undefined
  return { state: states[state], context: `${REPORT_CONTEXT}${environment}`, description, target_url: logUrl }
}
