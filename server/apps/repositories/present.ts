import type { Database } from 'bun:sqlite'
import type { RepositoryState } from '../../../shared/repository-state.ts'
import type { StoredService } from '../services/store.ts'
import { type BranchLook, lookAt } from './look-store.ts'
import { type CheckWait, waitOf } from './wait-store.ts'

/** What keeps a service from being deployed from its repository; undefined where nothing does. */
export function repositoryStateOf(db: Database, { id: serviceId, labels }: StoredService): RepositoryState | undefined {
  const { repo: repository, branch, autoDeployTrigger } = labels
  if (repository === '' || autoDeployTrigger === 'off') return undefined
  const problem = problemOf(lookAt(db, { serviceId, repository, branch }))
  const wait = waitOf(db, serviceId)
  const waiting = wait?.repository === repository && wait.branch === branch ? waitingOf(wait) : undefined
  if (problem === undefined && waiting === undefined) return undefined
  return { ...(problem && { problem }), ...(waiting && { waiting }) }
}

function problemOf(look: BranchLook | undefined): RepositoryState['problem'] {
  if (look === undefined || look.problem === null || look.problemSince === null) return undefined
  return { since: new Date(look.problemSince).toISOString(), message: look.problem }
}

const waitingOf = ({ commitId, message, beganAt, awaits }: CheckWait): NonNullable<RepositoryState['waiting']> => ({
  commitId,
  message,
  since: new Date(beganAt).toISOString(),
  for: awaits,
})
