import type { ExitedState } from '../../engines/port/port.ts'
import type { JobEnd, StoredJob } from '../workloads/job-store.ts'

export interface Outcome {
  phase: JobEnd
  exitCode: number | null
  reason: string | null
}

type Exit = Pick<ExitedState, 'exitCode' | 'signal' | 'oomKilled'>

export function outcomeOf(job: Pick<StoredJob, 'stopAs' | 'reason'>, exit: Exit | undefined, ended?: string): Outcome {
  const exitCode = exit?.exitCode ?? null
  if (job.stopAs !== null) return { phase: job.stopAs, exitCode, reason: job.reason }
  if (exitCode === 0) return { phase: 'succeeded', exitCode, reason: null }
  return { phase: 'failed', exitCode, reason: ended ?? failureOf(exit) }
}

function failureOf(exit: Exit | undefined): string {
  if (exit?.oomKilled) return 'It ran out of memory. Run it with a larger plan.'
  if (exit?.signal) return `It was ended by ${exit.signal}.`
  if (exit !== undefined && exit.exitCode !== null) return `It exited with code ${exit.exitCode}.`
  return 'The machine or the platform was stopped while it ran, so its end is not known.'
}
