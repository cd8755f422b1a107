import { AppError } from '../../../shared/error.ts'
import { buildPlans } from '../../../shared/plan.ts'
import type { BuiltRelease, RunnableStep, StepExit } from '../../builders/port.ts'
import { newId } from '../../platform/id.ts'
import type { AppContext } from '../context.ts'
import { deployLogWritten, deployOutputName, writeDeployLines } from '../deploys/deploy-log.ts'
import { endStage } from '../deploys/finish.ts'
import { insertRelease } from '../deploys/release-store.ts'
import { type StoredDeploy, updateDeploy } from '../deploys/store.ts'
import { baseEnv, ownerOf } from '../launch/launch.ts'
import { buildSettingsOf } from '../services/build-settings.ts'
import { limitSpace } from '../services/space-limit.ts'
import { type StoredService, serviceById, updateService } from '../services/store.ts'
import { userNamespacesOf } from '../services/user-namespaces.ts'
import { openSource } from '../sources/operations.ts'
import { findSource, type StoredSource } from '../sources/store.ts'
import type { ReleaseSecrets } from '../variables/release-secrets.ts'
import { secretsForRelease } from '../variables/resolved.ts'
import { buildStepIdOf } from '../workloads/step-store.ts'
import { runBuildStep } from './build-step.ts'
import { withSource } from './fetch-source.ts'
import { endSteps } from './run-step.ts'

const MIB = 1024 * 1024

interface BuildJob {
  context: AppContext
  service: StoredService
  deploy: StoredDeploy
  secrets: ReleaseSecrets
  signal: AbortSignal
}

/** Repeatable after an interruption. @throws AppError naming the step that failed; the signal's reason when aborted. */
export async function buildDeploy(
  context: AppContext,
  service: StoredService,
  { deploy: begun, signal }: { deploy: StoredDeploy; signal: AbortSignal },
): Promise<void> {
  // What an earlier control plane began of this build is not gone on with.
  await endSteps(context, begun)
  const deploy = await withSource(context, service, { deploy: begun, signal })
  const source = sourceOf(context, deploy)
  await limitSpace(context, service)
  const job = { context, service, deploy, secrets: secretsForRelease(context, service), signal }
  const built = await context.builder.build({
    owner: ownerOf(service),
    buildId: deploy.id,
    source: openSource(context, source),
    rootDir: service.settings.rootDir,
    settings: buildSettingsOf(service),
    env: buildEnv(job),
    ...(deploy.isCacheCleared && { clearsCache: true }),
    log: (line) => writeDeployLines(context, deploy, line),
    runStep: (step) => runStep(job, step),
    signal,
  })
  saveRelease(job, built)
}

const noSource = 'The service has no source yet. Upload some with `cpctl deploy`, or with POST /v1/services/{id}/source/upload.'

function sourceOf({ db }: AppContext, { serviceId, sourceId }: StoredDeploy): StoredSource {
  if (sourceId === null) throw new AppError('bad_request', noSource)
  const source = findSource(db, serviceId, sourceId)
  if (source === undefined) throw new AppError('bad_request', 'The source of this deploy is no longer kept. Upload it again.')
  return source
}

const buildEnv = ({ service, deploy, secrets }: BuildJob): Record<string, string> => ({
  ...Object.fromEntries(secrets.envVars.map(({ key, value }) => [key, value])),
  CPD_SERVICE_ID: service.id,
  CPD_SERVICE_NAME: service.name,
  CPD_DEPLOY_ID: deploy.id,
})

async function runStep({ context, service, deploy, signal }: BuildJob, step: RunnableStep): Promise<StepExit> {
  const { cpu, memoryMb, pids } = buildPlans[service.settings.buildPlan]
  await deployLogWritten(context, deploy)
  return await runBuildStep(context, service, {
    deploy,
    signal,
    spec: {
      ...{ instanceId: buildStepIdOf(deploy, step), deployId: deploy.id, runs: 'once' },
      owner: ownerOf(service),
      files: { build: deploy.id, dir: step.dir },
      command: step.command,
      env: (view) => ({ ...baseEnv(view), ...step.env }),
      limits: { cpu, memoryBytes: memoryMb * MIB, pids },
      network: step.network,
      stack: step.stack,
      ...userNamespacesOf(context.config, service),
      outputName: deployOutputName(deploy),
    },
  })
}

function saveRelease({ context, service, deploy, secrets }: BuildJob, built: BuiltRelease): void {
  const now = context.now()
  const { runtime } = built.launch
  const detectedRuntime = runtime === 'shell' || runtime === 'static' ? null : runtime
  const release = {
    ...built,
    id: newId('release', now),
    serviceId: service.id,
    sourceId: deploy.sourceId ?? '',
    createdAt: now,
  }
  context.db.transaction(() => {
    // Rules at the edge are in force at once, those that were set during the build included.
    const { headers, routes } = serviceById(context.db, service.id)?.settings ?? service.settings
    endStage(context, { deploy: { ...deploy, status: 'build_in_progress' }, owner: service }, 'succeeded')
    insertRelease(context, { ...release, settings: { ...service.settings, headers, routes } }, secrets)
    updateDeploy(context.db, deploy.id, { releaseId: release.id }, now)
    if (detectedRuntime !== service.detectedRuntime) updateService(context.db, service.id, { detectedRuntime }, now)
  })()
}
