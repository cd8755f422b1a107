import { AppError } from '../../../shared/error.ts'
import { commandIn } from '../../builders/plan.ts'
import type { AppContext } from '../context.ts'
import { deployLogPath, writeDeployLog } from '../deploys/deploy-log.ts'
import { artifactDir, releaseById } from '../deploys/release-store.ts'
import type { StoredDeploy } from '../deploys/store.ts'
import type { DiskOfInstance } from '../disks/workload.ts'
import { reasonWithLogged } from '../launch/last-words.ts'
import { instanceEnv, limitsOf, prepareSecrets, sandboxOf } from '../launch/launch.ts'
import type { StoredService } from '../services/store.ts'

/** Nothing listens in a pre-deploy command, but apps that read PORT at start must find a number. */
const NO_PORT = 0

export function preDeployCommandOf({ db }: Pick<AppContext, 'db'>, { releaseId }: StoredDeploy): string {
  return (releaseId === null ? undefined : releaseById(db, releaseId))?.settings.preDeployCommand ?? ''
}

/**
 * The command may run a second time when the control plane dies meanwhile.
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
  const secretsDir = await prepareSecrets(context, { service, release })
  const facts = { port: NO_PORT, instanceId: `${deploy.id}-pre-deploy`, deployId: deploy.id, secretsDir }
  const cwd = artifactDir(context.paths, release)
  const result = await context.engine.runTask(
    {
      taskId: `${deploy.id}-pre-deploy`,
      command: commandIn(release.launch.appDir, command),
      cwd,
      env: { ...instanceEnv(context, { service, release, facts }), ...disk.env },
      sandbox: { ...sandboxOf(context, service, [...release.launch.readOnlyBinds, cwd, secretsDir]), layerOver: cwd, ...disk.sandbox },
      limits: limitsOf(release.settings.plan),
      outputPath: deployLogPath(context, deploy),
      timeoutMs: context.config.CP_BUILD_TIMEOUT_SECONDS * 1000,
    },
    signal,
  )
  if (result.exitCode === 0) return
  const how = result.timedOut ? 'took too long' : result.oomKilled ? 'ran out of memory' : `exited with ${result.exitCode ?? result.signal}`
  throw new AppError('bad_request', reasonWithLogged(context, deploy, `The pre-deploy command ${how}; see the build log.`))
}
