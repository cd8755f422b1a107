import { AppError } from '../../../shared/error.ts'
import type { AppContext } from '../context.ts'
import { writeDeployLog } from '../deploys/deploy-log.ts'
import { deployById, type StoredDeploy, updateDeploy } from '../deploys/store.ts'
import { fetchSource } from '../repositories/fetch/fetch.ts'
import { noteCommit, retryLooks } from '../repositories/look-store.ts'
import { explain } from '../repositories/looks/explain.ts'
import { followRename } from '../repositories/looks/renames.ts'
import type { StoredService } from '../services/store.ts'
import { commitOf, type StoredSource } from '../sources/store.ts'

interface Failed {
  error: unknown
  signal: AbortSignal
}

interface Begun {
  deploy: StoredDeploy
  signal: AbortSignal
}

/** The deploy with its source, which is fetched where the service has a repository and nothing else was named. @throws AppError as `fetchSource`. */
export async function withSource(context: AppContext, service: StoredService, { deploy, signal }: Begun): Promise<StoredDeploy> {
  if (deploy.sourceId !== null || service.labels.repo === '') return deploy
  try {
    await fetchFor(context, service, { deploy, signal })
  } catch (error) {
    const moved = await whereItIsNow(context, service, { error, signal })
    await fetchFor(context, moved, { deploy, signal })
  }
  const fetched = deployById(context.db, deploy.id) ?? deploy
  writeDeployLog(context, deploy, `Deploying commit ${fetched.commitId}${titleOf(fetched.commitMessage)}`)
  return fetched
}

async function fetchFor(context: AppContext, service: StoredService, { deploy, signal }: Begun): Promise<void> {
  const { db, now } = context
  const { repo: repository, branch } = service.labels
  const ref = deploy.ref ?? ''
  const remark = (text: string) => writeDeployLog(context, deploy, text)
  remark(`Fetching ${ref || branch || 'the default branch'} of ${repository}`)
  const onKept = (source: StoredSource) => {
    updateDeploy(db, deploy.id, { sourceId: source.id, ...commitOf(source) }, now())
    if (ref === '') noteCommit(db, { serviceId: service.id, repository, branch }, { commitId: source.commitId, now: now() })
    retryLooks(db, { serviceId: service.id }, now())
  }
  await fetchSource(context, { service, ref, signal, remark, onKept })
}

/** The service with its repository under the name that this has now. @throws what the fetch has failed with, by the word of the host where that has one. */
async function whereItIsNow(context: AppContext, service: StoredService, { error, signal }: Failed): Promise<StoredService> {
  const explained = await explain(context, service, { error, signal })
  if (explained.kind === 'unreachable')
    throw error instanceof AppError && error.message !== explained.problem
      ? new AppError(error.code, explained.problem, { cause: error })
      : error
  const moved = context.db.transaction(() => followRename(context, service, explained.url))()
  if (moved === undefined) throw error
  return moved
}

const titleOf = (message: string | null): string => (message ? `: ${message.split('\n', 1)[0]}` : '')
