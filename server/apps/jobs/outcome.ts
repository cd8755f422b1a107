import { type End, wasUnseen } from '../../engines/port/end.ts'
import type { JobEnd, StoredJob } from '../workloads/job-store.ts'

export interface Outcome {
  phase: JobEnd
  exitCode: number | null
  reason: string | null
}

export function outcomeOf(job: Pick<StoredJob, 'stopAs' | 'reason'>, exit: End | undefined, ended?: string): Outcome {
  const exitCode = exit?.exitCode ?? null
  if (job.stopAs !== null) return { phase: job.stopAs, exitCode, reason: job.reason }
  if (exitCode === 0) return { phase: 'succeeded', exitCode, reason: null }
  return { phase: 'failed', exitCode, reason: ended ?? failureOf(exit) }
}

function failureOf(exit: End | undefined): string {
  if (exit === undefined || wasUnseen(exit)) return 'The machine or the platform was stopped while it ran, so its end is not known.'
  if (exit.why === 'out_of_memory') return 'It ran out of memory. Run it with a larger plan.'
  return exit.signal === null ? `It exited with code ${exit.exitCode}.` : `It was ended by ${exit.signal}.`
}
