import { cancelDeploy, findRollbackTarget, rollBack } from '../../../../server/apps/deploys/operations.ts'
import { insertRelease, releaseById } from '../../../../server/apps/deploys/release-store.ts'
import { deployById, insertDeploy, listDeploys, unfinishedDeploys } from '../../../../server/apps/deploys/store.ts'
import { diskOfService } from '../../../../server/apps/disks/store.ts'
import { cancelJob, createJob } from '../../../../server/apps/jobs/operations.ts'
import { createService } from '../../../../server/apps/services/routes/operations.ts'
import { type StoredService, serviceById } from '../../../../server/apps/services/store.ts'
import { instancesOf } from '../../../../server/apps/workloads/instance-store.ts'
import { jobById, type StoredJob } from '../../../../server/apps/workloads/job-store.ts'
import type { Context } from '../../../../server/boot/serve/context.ts'
import { newId } from '../../../../server/platform/id.ts'
import { ensureServiceFolders } from '../../../../server/platform/service-folders.ts'
import type { Deploy } from '../../../../shared/deploy.ts'
import type { ServiceCreate } from '../../../../shared/service.ts'
import type { FakeWorld } from '../../../support/fake-world.ts'

/** A service of a world, whichever control plane it has just now. */
export interface MadeService {
  readonly id: string
  readonly name: string
  readonly hasDisk: boolean
  readonly row: StoredService
  /** Jobs that were ever asked for. */
  readonly jobs: StoredJob[]
  /** Has a release that runs this command take the place of the live one, as a deploy that has been built does. */
  deploy(command: string, preDeployCommand?: string): string
  deploys(): Deploy[]
  /** The command of the live release; undefined while nothing is live. */
  liveCommand(): string | undefined
  cancel(): void
  rollBack(deployId?: string): void
  run(command: string): string
  cancelJob(id: string): void
  /** Ids of the instances that the API lists. */
  instances(): string[]
  /** Instances of it that the machine runs. */
  running(): string[]
}

const bind = () => {
  throw new Error('Nothing is referred to here')
}

const EVERY_DEPLOY = { limit: 1000, beforeId: undefined }

export async function makeServiceIn(world: FakeWorld, body: ServiceCreate): Promise<MadeService> {
  const context = (): Context => world.context
  const workspaceId = context().db.query<{ id: string }, []>('SELECT id FROM workspaces').get()?.id ?? ''
  const { id, uid } = createService(context(), { workspaceId, environmentId: null, bind }, body)
  await ensureServiceFolders(context().paths, { id, uid })
  const jobIds: string[] = []
  const row = () => {
    const found = serviceById(context().db, id)
    if (found === undefined) throw new Error(`Service ${id} is gone`)
    return found
  }
  return {
    id,
    name: body.name,
    hasDisk: diskOfService(context().db, id) !== undefined,
    get row() {
      return row()
    },
    get jobs() {
      return jobIds.flatMap((jobId) => jobById(context().db, jobId) ?? [])
    },
    deploy: (command, preDeployCommand = '') => {
      for (const { status, id: waiting } of unfinishedDeploys(context().db, id))
        if (status === 'queued') cancelDeploy(context(), row(), waiting)
      return insertBuilt(context(), row(), { command, preDeployCommand })
    },
    deploys: () => listDeploys(context().db, id, EVERY_DEPLOY),
    liveCommand: () => {
      const releaseId = deployById(context().db, row().liveDeployId ?? '')?.releaseId
      return releaseById(context().db, releaseId ?? '')?.launch.startCommand
    },
    cancel: () => {
      for (const deploy of unfinishedDeploys(context().db, id)) cancelDeploy(context(), row(), deploy.id)
    },
    rollBack: (deployId) => {
      const target = findRollbackTarget(context(), row(), deployId === undefined ? {} : { deployId })
      rollBack(context(), row(), target)
    },
    run: (command) => {
      const job = createJob(context(), row(), { startCommand: command, by: 'a test' })
      jobIds.push(job.id)
      return job.id
    },
    cancelJob: (jobId) => void cancelJob(context(), row(), { id: jobId, by: 'a test' }),
    instances: () => instancesOf(context().db, id).map((instance) => instance.id),
    running: () => world.machine.running().filter((runningId) => runningId.startsWith(`${id}-`)),
  }
}

function insertBuilt(context: Context, service: StoredService, release: { command: string; preDeployCommand: string }): string {
  const { db, work } = context
  const now = context.now()
  const [releaseId, id] = [newId('release', now), newId('deploy', now)]
  const launch = { runtime: 'node', startCommand: release.command, env: {}, stack: { kind: 'host', searchPath: [], folders: [] } } as const
  const settings = { ...service.settings, preDeployCommand: release.preDeployCommand }
  const common = { serviceId: service.id, sourceId: 'src-none', createdAt: now }
  db.transaction(() => {
    insertRelease(context, { ...common, id: releaseId, artifact: releaseId, launch, settings }, { envVars: [], secretFiles: [] })
    insertDeploy(db, { ...common, id, sourceId: null, releaseId, trigger: 'api', rollbackOf: null, isCacheCleared: false })
  })()
  work.poke('deploys')
  return id
}
