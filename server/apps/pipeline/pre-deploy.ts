import { AppError } from '../../../shared/error.ts'
import type { AppContext } from '../context.ts'
import { deployLogWritten, deployOutputName, writeDeployLog } from '../deploys/deploy-log.ts'
import { releaseById } from '../deploys/release-store.ts'
import type { StoredDeploy } from '../deploys/store.ts'
import type { DiskOfInstance } from '../disks/workload.ts'
import { reasonWithLogged } from '../launch/last-words.ts'
import { workloadIn } from '../launch/launch.ts'
import type { StoredService } from '../services/store.ts'

export function preDeployCommandOf({ db }: Pick<AppContext, 'db'>, { releaseId }: StoredDeploy): string {
  return (releaseId === null ? undefined : releaseById(db, releaseId))?.settings.preDeployCommand ?? ''
}

/**
 * The command may run again after a crash of the control plane.
 * @throws AppError saying how it failed; the signal's reason when aborted.
 */
export async function runPreDeploy(
  context: AppContext,
  service: StoredService,
  { deploy, disk, signal }: { deploy: StoredDeploy; disk: DiskOfInstance; signal: AbortSignal },
): Promise<void> {
  const release = deploy.releaseId === null ? undefined : releaseById(context.db, deploy.releaseId)
  if (release === undefined) throw new AppError('bad_request', 'The release of this deploy is gone. Deploy again.')
  const command = release.settings.preDeployCommand
  writeDeployLog(context, deploy, `Pre-deploy: ${command}`)
  await deployLogWritten(context, deploy)
  const id = `${deploy.id}-pre-deploy`
  const result = await context.engine.runTask(
    {
      ...workloadIn(context, { service, release, workload: { id, deployId: deploy.id, command } }),
      ...disk,
      taskId: id,
      outputName: deployOutputName(deploy),
      timeoutMs: context.config.CP_BUILD_TIMEOUT_SECONDS * 1000,
    },
    signal,
  )
  if (result.exitCode === 0) return
  const how = result.timedOut ? 'took too long' : result.oomKilled ? 'ran out of memory' : `exited with ${result.exitCode ?? result.signal}`
  throw new AppError('bad_request', await reasonWithLogged(context, deploy, `The pre-deploy command ${how}; see the build log.`))
}
