import type { StepExit } from '../../builders/port.ts'
import type { ExitedState } from '../../engines/port/port.ts'
import type { InstanceSpec } from '../../engines/port/workload.ts'
import { workloadById } from '../../runtime/workloads/store.ts'
import type { AppContext } from '../context.ts'
import type { StoredDeploy } from '../deploys/store.ts'
import type { StoredService } from '../services/store.ts'
import { BUILD_STEP, forgetStepEnd } from '../workloads/step-store.ts'
import { memoryRemedy } from './memory-remedy.ts'
import { runStep } from './run-step.ts'

/** A build that is cut off begins anew: nothing of a step outlives it. @throws AppError unavailable, or the signal's reason. */
export async function runBuildStep(
  context: AppContext,
  service: StoredService,
  { deploy, spec, signal }: { deploy: StoredDeploy; spec: InstanceSpec; signal: AbortSignal },
): Promise<StepExit> {
  const { instanceId: id } = spec
  const set = { ...BUILD_STEP, id, ownerId: service.id, spec: { deployId: deploy.id } }
  const [failure, use] = [watchFailure(context, id), watchUse(context, id)]
  try {
    forgetStepEnd(context.db, id)
    const written = runStep(context, { set, spec, signal })
    written.catch(() => {})
    const end = await Promise.race([written, failure.seen])
    return {
      exitCode: end.exitCode,
      signal: end.signal,
      timedOut: 'isTimedOut' in end && end.isTimedOut,
      oomKilled: end.why === 'out_of_memory',
      memoryRemedy: memoryRemedy({ name: service.name, buildPlan: service.settings.buildPlan }),
      ...use.told(),
    }
  } catch (error) {
    // What cannot be written down on a full disk is ended all the same.
    await context.engine.stop(id, { graceMs: 0 })
    throw error
  } finally {
    failure.unwatch()
    use.unwatch()
  }
}

/** Listeners are told of an end before it is written down, and what was used is forgotten with the workload. */
function watchUse({ engine }: AppContext, id: string): { told: () => Pick<StepExit, 'used'>; unwatch: () => void } {
  let told: Pick<StepExit, 'used'> = {}
  const unwatch = engine.onExit((ended, { used }) => {
    if (ended === id && used !== undefined) told = { used }
  })
  return { told: () => told, unwatch }
}

/** A step that has filled the disk leaves no room to write its end down, until the build is told and gives the disk back. */
function watchFailure({ db, engine }: AppContext, id: string): { seen: Promise<ExitedState>; unwatch: () => void } {
  const { promise: seen, resolve } = Promise.withResolvers<ExitedState>()
  const unwatch = engine.onExit((ended, state) => {
    if (ended === id && state.exitCode !== 0 && workloadById(db, id)?.phase !== 'stopping') resolve(state)
  })
  return { seen, unwatch }
}
