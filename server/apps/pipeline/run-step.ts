import { AppError } from '../../../shared/error.ts'
import type { AwaitedRun } from '../../runtime/workloads/awaited.ts'
import { allWorkloads, type StoredWorkload, workloadById, workloadsOf } from '../../runtime/workloads/store.ts'
import type { AppContext } from '../context.ts'
import { deployById, type StoredDeploy } from '../deploys/store.ts'
import { BUILD_STEP, PRE_DEPLOY, type StoredStepEnd, stepEndById } from '../workloads/step-store.ts'

export const stepTimeoutMs = ({ config }: Pick<AppContext, 'config'>): number => config.CP_BUILD_TIMEOUT_SECONDS * 1000

/**
 * Runs a command of a deploy to its end, goes on to wait for one that is under way, or tells how it has ended already.
 * @throws AppError unavailable when it could not be started; the signal's reason when aborted, what ends the control plane included.
 */
export async function runStep(
  context: AppContext,
  { set, spec, signal }: Pick<AwaitedRun, 'set' | 'spec' | 'signal'>,
): Promise<StoredStepEnd> {
  const { db, work } = context
  if (stepEndById(db, set.id) === undefined)
    await work.awaited.run({ set, signal, timeoutMs: stepTimeoutMs(context), ...(spec && { spec }) })
  signal.throwIfAborted()
  const end = stepEndById(db, set.id)
  if (end === undefined) throw new Error(`It is not written down how ${set.id} has ended`)
  if (end.refusal !== null) throw new AppError('unavailable', end.refusal)
  return end
}

/** Whether a command was begun, by an earlier control plane perhaps: it is not begun a second time. */
export const isStepBegun = ({ db }: Pick<AppContext, 'db'>, id: string): boolean =>
  workloadById(db, id) !== undefined || stepEndById(db, id) !== undefined

/** Ends what still runs of a deploy's commands. Returns when nothing of it is left. @throws what ends the control plane. */
export async function endSteps({ db, work }: Pick<AppContext, 'db' | 'work'>, deploy: StoredDeploy): Promise<void> {
  const own = workloadsOf(db, 'service', deploy.serviceId).filter((workload) => isStep(workload) && workload.spec.deployId === deploy.id)
  await Promise.all(own.map(({ id }) => work.awaited.end(id)))
}

/** At a start, before anything is kept: nobody waits any more for steps of builds, which begin anew, and for what ended deploys ran. */
export function dropAbandonedSteps({ db, sets }: Pick<AppContext, 'db' | 'sets'>): void {
  for (const workload of allWorkloads(db))
    if (isStep(workload) && workload.setId !== null && isAbandoned(db, workload)) sets.drop(workload.setId)
}

const isStep = ({ purpose }: StoredWorkload): boolean => purpose === BUILD_STEP.purpose || purpose === PRE_DEPLOY.purpose

const isAbandoned = (db: AppContext['db'], { purpose, spec }: StoredWorkload): boolean =>
  purpose === BUILD_STEP.purpose || deployById(db, String(spec.deployId))?.finishedAt !== null
