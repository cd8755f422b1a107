import type { Database } from 'bun:sqlite'
import type { RepositoryState } from '../../../shared/repository-state.ts'
import type { StoredService } from '../services/store.ts'
import { lookAt } from './look-store.ts'

/** What keeps a service from being deployed from its repository; undefined where nothing does. */
export function repositoryStateOf(db: Database, { id: serviceId, labels }: StoredService): RepositoryState | undefined {
  const { repo: repository, branch, autoDeployTrigger } = labels
  if (repository === '' || autoDeployTrigger === 'off') return undefined
  const look = lookAt(db, { serviceId, repository, branch })
  if (look === undefined || look.problem === null || look.problemSince === null) return undefined
  return { problem: { since: new Date(look.problemSince).toISOString(), message: look.problem } }
}
