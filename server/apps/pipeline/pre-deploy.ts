import { AppError } from '../../../shared/error.ts'
import { wasUnseen } from '../../engines/port/end.ts'
import type { AppContext } from '../context.ts'
import { deployLogWritten, writeDeployLog } from '../deploys/deploy-log.ts'
import { releaseById } from '../deploys/release-store.ts'
import type { StoredDeploy } from '../deploys/store.ts'
import type { DiskOfInstance } from '../disks/workload.ts'
import { reasonWithLogged } from '../launch/last-words.ts'
import type { StoredService } from '../services/store.ts'
import { PRE_DEPLOY, preDeployIdOf, type StoredStepEnd } from '../workloads/step-store.ts'
import { isStepBegun, runStep } from './run-step.ts'

export function preDeployCommandOf({ db }: Pick<AppContext, 'db'>, { releaseId }: StoredDeploy): string {
  return (releaseId === null ? undefined : releaseById(db, releaseId))?.settings.preDeployCommand ?? ''
}

/**
 * Runs the command at most once for a deploy: one that an earlier control plane began is waited for, or its end taken.
 * @throws AppError saying how it failed; the signal's reason when aborted, beyond which it goes on where the control plane stops.
 */
export async function runPreDeploy(
  context: AppContext,
  service: StoredService,
  { deploy, disk, signal }: { deploy: StoredDeploy; disk: DiskOfInstance; signal: AbortSignal },
): Promise<void> {
  const release = deploy.releaseId === null ? undefined : releaseById(context.db, deploy.releaseId)
  if (release === undefined) throw new AppError('bad_request', 'The release of this deploy is gone. Deploy again.')
  const id = preDeployIdOf(deploy)
  if (!isStepBegun(context, id)) {
    writeDeployLog(context, deploy, `Pre-deploy: ${release.settings.preDeployCommand}`)
    await deployLogWritten(context, deploy)
  }
  const spec = { deployId: deploy.id, releaseId: release.id, ...disk }
  const set = { ...PRE_DEPLOY, id, ownerId: service.id, spec }
  const end = await runStep(context, { set, signal })
  if (end.exitCode === 0) return
  if (!end.isTimedOut && end.why !== null && wasUnseen({ why: end.why })) throw new AppError('bad_request', UNSEEN)
  throw new AppError(
    'bad_request',
    await reasonWithLogged(context, deploy, `The pre-deploy command ${howItEnded(end)}; see the build log.`),
  )
}

const UNSEEN =
  'The machine or the platform was stopped while the pre-deploy command ran, so its end is not known. It is not run twice: see what it did, then deploy again.'

function howItEnded({ exitCode, signal, why, isTimedOut }: StoredStepEnd): string {
  if (isTimedOut) return 'took too long'
  return why === 'out_of_memory' ? 'ran out of memory' : `exited with ${exitCode ?? signal}`
}
