/**
 * The commands of deploys, steps of builds and pre-deploy commands, as owners of workloads. Each runs once: how it ended is written down for
 * the deploy in the change that ends the workload, so that the next control plane finds either the one or the other.
 */
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { AppError } from '../../../shared/error.ts'
import type { InstanceSpec } from '../../engines/port/workload.ts'
import type { WorkloadEnd, WorkloadOwner } from '../../runtime/workloads/owner.ts'
import type { StoredWorkload } from '../../runtime/workloads/store.ts'
import type { AppContext } from '../context.ts'
import { deployOutputName, followDeployLog } from '../deploys/deploy-log.ts'
import { releaseById } from '../deploys/release-store.ts'
import { deployById, type StoredDeploy } from '../deploys/store.ts'
import { workloadIn } from '../launch/launch.ts'
import { serviceById } from '../services/store.ts'
import { BUILD_STEP, PRE_DEPLOY, type StoredStepEnd, writeStepEnd } from '../workloads/step-store.ts'
import { PLATFORM_FAILED, wordsFor } from './failure-words.ts'
import { stepTimeoutMs } from './run-step.ts'

export const stepOwners = (context: AppContext): WorkloadOwner[] => [
  { ...BUILD_STEP, ...stepOwner(context), specOf: async ({ id }) => specOfBuildStep(context, id) },
  { ...PRE_DEPLOY, ...stepOwner(context), specOf: async (workload) => specOfPreDeploy(context, workload) },
]

const stepOwner = (context: AppContext): Omit<WorkloadOwner, 'ownerKind' | 'purpose' | 'specOf'> => ({
  policy: { restarts: 'never' },
  newId: ({ id }) => id,
  follow(workload) {
    const deploy = unfinishedDeployOf(context, workload)
    if (deploy !== undefined) followDeployLog(context, deploy)
  },
  closeOutput: async () => {},
  onStarted: ({ id }) => context.work.awaited.changed(id),
  onEnd(workload, end) {
    const deploy = unfinishedDeployOf(context, workload)
    if (deploy !== undefined && (end.kind === 'over' || end.kind === 'refused'))
      writeStepEnd(context.db, { id: workload.id, deployId: deploy.id, ...endOf(context, workload, end) })
  },
  graceMs: () => 0,
  onRemoved: async ({ id }) => context.work.awaited.changed(id),
})

function unfinishedDeployOf({ db }: AppContext, { spec }: StoredWorkload): StoredDeploy | undefined {
  const deploy = deployById(db, String(spec.deployId))
  return deploy?.finishedAt === null ? deploy : undefined
}

function endOf(
  context: AppContext,
  { phase, startedAt }: StoredWorkload,
  end: Extract<WorkloadEnd, { kind: 'over' | 'refused' }>,
): Omit<StoredStepEnd, 'id' | 'deployId'> {
  const nothing = { exitCode: null, signal: null, why: null, isTimedOut: false, refusal: null }
  if (end.kind === 'refused') return { ...nothing, refusal: wordsFor(end.error) ?? PLATFORM_FAILED }
  const isTimedOut = phase === 'stopping' && startedAt !== null && startedAt + stepTimeoutMs(context) <= context.now()
  const { exitCode = null, signal = null, why = null } = end.exit ?? { why: 'unseen' }
  return { ...nothing, exitCode, signal, why, isTimedOut }
}

/** The build that asked for a step alone knows what it runs, and whoever was killed meanwhile builds anew. */
function specOfBuildStep({ work }: AppContext, id: string): InstanceSpec {
  const spec = work.awaited.specOf(id)
  if (spec === undefined) throw new AppError('conflict', 'The build of this step is begun anew.')
  return spec
}

const PreDeploySpec = Type.Object({
  deployId: Type.String(),
  releaseId: Type.String(),
  volume: Type.Optional(Type.Object({ volumeId: Type.String(), mountPath: Type.String() })),
})

function specOfPreDeploy(context: AppContext, { id, ownerId, spec }: StoredWorkload): InstanceSpec {
  if (!Value.Check(PreDeploySpec, spec)) throw new Error(`Workload ${id} does not say what it is the pre-deploy command of`)
  const { deployId, releaseId, volume } = spec
  const [service, release] = [serviceById(context.db, ownerId), releaseById(context.db, releaseId)]
  if (service === undefined || release === undefined) throw new AppError('bad_request', 'The release of this deploy is gone. Deploy again.')
  const workload = { id, deployId, command: release.settings.preDeployCommand }
  return {
    ...workloadIn(context, { service, release, workload }),
    ...(volume && { volume }),
    ...{ instanceId: id, deployId, runs: 'once', outputName: deployOutputName({ id: deployId }) },
  }
}
