import type { Database } from 'bun:sqlite'
import type { EndReason } from '../../engines/port/end.ts'
import { flag } from '../../platform/db/codec.ts'
import { tableOf } from '../../platform/db/table.ts'

/** What steps of builds are among the workloads of a service. */
export const BUILD_STEP = { ownerKind: 'service', purpose: 'build_step' } as const

/** What pre-deploy commands are among the workloads of a service. */
export const PRE_DEPLOY = { ownerKind: 'service', purpose: 'pre_deploy' } as const

export interface StoredStepEnd {
  id: string
  deployId: string
  /** Null as the signal is where nobody saw how it ended, and where it was refused. */
  exitCode: number | null
  signal: string | null
  why: EndReason | null
  isTimedOut: boolean
  refusal: string | null
}

const ends = tableOf<StoredStepEnd>('deploy_steps', {
  id: 'id',
  deployId: 'deploy_id',
  exitCode: 'exit_code',
  signal: 'signal',
  why: 'why',
  isTimedOut: { column: 'timed_out', as: flag },
  refusal: 'refusal',
})

/** The id of the workload that a deploy's pre-deploy command is. */
export const preDeployIdOf = ({ id }: { id: string }): string => `${id}-pre-deploy`

/** The id of the workload that a step of a deploy's build is. */
export const buildStepIdOf = ({ id }: { id: string }, { name }: { name: string }): string => `${id}-${name.replace(/[^a-z0-9]+/gi, '-')}`

/** Whether a workload is a command of some deploy, of one that nobody knows any more as well. */
export const isStepId = (id: string): boolean => id.startsWith('dep-')

/** Writes down how a command has ended; belongs in the transaction that ends its workload. */
export const writeStepEnd = (db: Database, end: StoredStepEnd): void => ends.put(db, end)

/** How a command has ended, or undefined while it has not. */
export const stepEndById = (db: Database, id: string): StoredStepEnd | undefined => ends.get(db, 'WHERE id = $id', { id })

/** Forgets how one command has ended, so that another of that id may run. */
export function forgetStepEnd(db: Database, id: string): void {
  ends.remove(db, { id })
}

/** Forgets how all commands of a deploy have ended, which is over. */
export function forgetStepEnds(db: Database, deployId: string): void {
  ends.remove(db, { deployId })
}
