import { traitsOf } from '../../../shared/service-type.ts'
import type { AppContext } from '../context.ts'
import { unfinishedDeploys } from '../deploys/store.ts'
import { diskOfService, isPreparingRestore } from '../disks/store.ts'
import type { StoredService } from '../services/store.ts'
import { instancesOf } from '../workloads/instance-store.ts'
import { openJobs } from '../workloads/job-store.ts'
import { instanceSetsIn, setOwnerOf } from '../workloads/service-sets.ts'
import { guardOf } from './guard.ts'
import type { Situation } from './plan.ts'
import { sleepOf } from './sleep.ts'

export function situationOf(
  context: Pick<AppContext, 'db' | 'config' | 'now' | 'traffic' | 'engine' | 'sets'>,
  service: StoredService,
): Situation {
  const disk = diskRules(context, service)
  const candidate = unfinishedDeploys(context.db, service.id).find((deploy) => deploy.status === 'update_in_progress')
  return {
    now: context.now(),
    service: {
      wantedInstances: traitsOf(service.type).hasInstances ? service.numInstances : 0,
      generation: service.generation,
      liveDeployId: service.liveDeployId,
      liveGeneration: service.liveGeneration,
      isSuspended: service.suspendedAt !== null,
      isDeleted: service.deletedAt !== null,
      ...disk,
    },
    candidate: candidate && {
      deployId: candidate.id,
      updateStartedAt: candidate.updateStartedAt ?? candidate.updatedAt,
      isCancelRequested: candidate.cancelRequestedAt !== null,
    },
    guard: guardOf(context, service),
    sleep: sleepOf(context, service),
    sets: instanceSetsIn(context.sets.sets(setOwnerOf(service.id))),
    instances: instancesOf(context.db, service.id),
    hasJobs: openJobs(context.db, service.id).length > 0,
    healthTimeoutMs: context.config.CP_HEALTH_TIMEOUT_SECONDS * 1000,
  }
}

export function diskRules({ db }: Pick<AppContext, 'db'>, service: StoredService): Pick<Situation['service'], 'replaces' | 'isHalted'> {
  const disk = diskOfService(db, service.id)
  if (disk === undefined) return { replaces: 'rolling', isHalted: false }
  const isRunning = instancesOf(db, service.id).some(({ phase }) => phase !== 'pending')
  const isUsable = disk.status === 'available' || isPreparingRestore(disk)
  return { replaces: 'stop_first', isHalted: disk.status === 'creating' ? !isRunning : !isUsable || isInPreDeploy(db, service) }
}

const isInPreDeploy = (db: AppContext['db'], { id }: StoredService): boolean =>
  unfinishedDeploys(db, id).some(({ status, strategy }) => status === 'pre_deploy_in_progress' && strategy === 'stop_first')
