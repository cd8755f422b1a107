import type { AppContext } from '../context.ts'
import { writeDeployLog } from '../deploys/deploy-log.ts'
import { deployById, type StoredDeploy, updateDeploy } from '../deploys/store.ts'
import { fetchSource } from '../repositories/fetch/fetch.ts'
import { noteCommit } from '../repositories/look-store.ts'
import type { StoredService } from '../services/store.ts'
import { commitOf, type StoredSource } from '../sources/store.ts'

interface Begun {
  deploy: StoredDeploy
  signal: AbortSignal
}

/** The deploy with its source, which is fetched where the service has a repository and nothing else was named. @throws AppError as `fetchSource`. */
export async function withSource(context: AppContext, service: StoredService, { deploy, signal }: Begun): Promise<StoredDeploy> {
  const { repo, branch } = service.labels
  if (deploy.sourceId !== null || repo === '') return deploy
  const ref = deploy.ref ?? ''
  const remark = (text: string) => writeDeployLog(context, deploy, text)
  remark(`Fetching ${ref || branch || 'the default branch'} of ${repo}`)
  const onKept = (source: StoredSource) => {
    updateDeploy(context.db, deploy.id, { sourceId: source.id, ...commitOf(source) }, context.now())
    if (ref === '') noteCommit(context.db, { serviceId: service.id, repository: repo, branch }, source.commitId)
  }
  await fetchSource(context, { service, ref, signal, remark, onKept })
  const fetched = deployById(context.db, deploy.id) ?? deploy
  remark(`Deploying commit ${fetched.commitId}${titleOf(fetched.commitMessage)}`)
  return fetched
}

const titleOf = (message: string | null): string => (message ? `: ${message.split('\n', 1)[0]}` : '')
