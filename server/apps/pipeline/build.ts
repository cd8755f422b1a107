import { rename } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { AppError } from '../../../shared/error.ts'
import { buildPlans } from '../../../shared/plan.ts'
import { detectBuild } from '../../builders/detect/detect.ts'
import { type BuildPlan, stackOf } from '../../builders/detect/plan.ts'
import { findSourceRoot } from '../../builders/detect/source-root.ts'
import { openSourceView, viewOf } from '../../builders/detect/source-view.ts'
import { placeInWorkspace } from '../../builders/detect/workspace.ts'
import type { Launch } from '../../builders/launch.ts'
import { DEFAULT_TOOLCHAIN_PATH, findToolchains, ownHomes } from '../../builders/toolchains/toolchains.ts'
import { buildRelease, type RunnableStep, type StepExit } from '../../builders/tree/build.ts'
import { statBeneath } from '../../platform/files/tree/beneath.ts'
import { chownTree } from '../../platform/files/tree/chown.ts'
import { removeTree } from '../../platform/files/tree/remove.ts'
import { newId } from '../../platform/id.ts'
import type { ServicePaths } from '../../platform/paths.ts'
import { ensureFolder, ensureServiceFolders, isRoot } from '../../platform/service-folders.ts'
import { requireRoom, whileThereIsRoom } from '../../runtime/space/room.ts'
import { appendOutput } from '../../telemetry/logs/append-output.ts'
import type { AppContext } from '../context.ts'
import { deployLogPath, deployOutputName } from '../deploys/deploy-log.ts'
import { insertRelease, type StoredRelease } from '../deploys/release-store.ts'
import { type StoredDeploy, updateDeploy } from '../deploys/store.ts'
import { baseEnv, ownerOf } from '../launch/launch.ts'
import { readSecrets, type ServiceSecrets } from '../services/env-store.ts'
import { type StoredService, serviceById, updateService } from '../services/store.ts'
import { userNamespacesOf } from '../services/user-namespaces.ts'
import { hashTree } from '../sources/content-hash.ts'
import { unpackSource } from '../sources/operations.ts'
import { findSource } from '../sources/store.ts'
import { loopbackVariable, sharedNetworkWarning } from './build-network.ts'

const MIB = 1024 * 1024

interface BuildJob {
  context: AppContext
  service: StoredService
  deploy: StoredDeploy
  own: ServicePaths
  dir: string
  secrets: ServiceSecrets
  signal: AbortSignal
}

/**
 * Repeatable after an interruption: built files that are kept already are found by their hash.
 * @throws AppError naming the step that failed; the signal's reason when aborted.
 */
export async function buildDeploy(
  context: AppContext,
  service: StoredService,
  { deploy, signal }: { deploy: StoredDeploy; signal: AbortSignal },
): Promise<void> {
  const own = await ensureServiceFolders(context.paths, service)
  await context.diskQuota.limit(service)
  const dir = join(own.builds, deploy.id)
  const job = { context, service, deploy, own, dir, secrets: readSecrets(context, service.id), signal }
  try {
    await prepareFolders(job)
    const upload = join(dir, 'source')
    const { rootDir, publishPath } = service.settings
    const place = placeInWorkspace(openSourceView(upload), relative(upload, findSourceRoot({ dir: upload, rootDir, publishPath })))
    const root = join(upload, place.rootDir)
    const plan = await planBuild(job, { root, appDir: place.appDir })
    if (isRoot) await chownTree(upload, service.uid, service.uid)
    warnOfSharedNetwork(job)
    const built = await buildRelease({
      buildDir: dir,
      sourceDir: root,
      owner: isRoot ? { uid: 0, gid: service.uid, maker: service.uid } : undefined,
      cacheDir: own.cache,
      plan,
      env: buildEnv(job),
      runStep: (step) => runStep(job, plan, step),
      log: (line) => appendOutput(deployLogPath(context, deploy), `${line}\n`),
      signal,
    })
    requireRoom(context, needOf('the release'))
    const artifact = await keepArtifact(job, built.artifactDir)
    saveRelease(job, { artifact, launch: launchOf(plan) })
  } finally {
    await removeTree(dir)
  }
}

const needOf = (what: string) => ({ what, advice: 'Its operator has to free some. Deploy again when that is done.' })
const noSource = 'The service has no source yet. Upload some with `cpctl deploy`, or with POST /v1/services/{id}/source/upload.'

async function prepareFolders({ context, service, deploy, own, dir, signal }: BuildJob): Promise<void> {
  if (deploy.sourceId === null) throw new AppError('bad_request', noSource)
  const source = findSource(context.db, service.id, deploy.sourceId)
  if (source === undefined) throw new AppError('bad_request', 'The source of this deploy is no longer kept. Upload it again.')
  if (deploy.isCacheCleared) {
    await removeTree(own.cache)
    await ensureServiceFolders(context.paths, service)
  }
  await removeTree(dir)
  await ensureFolder(dir, 0o710, { uid: 0, gid: service.uid })
  await whileThereIsRoom(context, needOf('a build'), (short) =>
    unpackSource(context, source, { into: join(dir, 'source'), signal: AbortSignal.any([signal, short]) }),
  )
}

function warnOfSharedNetwork({ context, deploy }: BuildJob): void {
  const variable = loopbackVariable(context.config.buildEnv)
  if (variable === undefined || !context.engine.capabilities.ownNetworks) return
  appendOutput(deployLogPath(context, deploy), `${sharedNetworkWarning(variable)}\n`)
}

async function planBuild({ context, service }: BuildJob, { root, appDir }: { root: string; appDir: string }): Promise<BuildPlan> {
  const { config, paths } = context
  const toolchains = await findToolchains({
    searchPath: [...config.CP_BUILD_PATH, ...DEFAULT_TOOLCHAIN_PATH],
    homes: ownHomes(),
    selfToolchainDir: paths.toolchain,
  })
  const { runtime, buildCommand, startCommand, publishPath } = service.settings
  const files = openSourceView(root)
  return detectBuild({
    files: viewOf(files, appDir),
    ...(appDir !== '' && { workspace: { files, appDir } }),
    settings: {
      type: service.type,
      ...(runtime === null ? {} : { runtime }),
      ...(buildCommand === '' ? {} : { buildCommand }),
      ...(startCommand === '' ? {} : { startCommand }),
      ...(publishPath === '' ? {} : { publishPath }),
    },
    toolchains,
  })
}

function buildEnv({ context, service, deploy, secrets }: BuildJob): Record<string, string> {
  return {
    ...context.config.buildEnv,
    ...Object.fromEntries(secrets.envVars.map(({ key, value }) => [key, value])),
    CPD_SERVICE_ID: service.id,
    CPD_SERVICE_NAME: service.name,
    CPD_DEPLOY_ID: deploy.id,
  }
}

async function runStep(job: BuildJob, plan: BuildPlan, step: RunnableStep): Promise<StepExit> {
  const { context, service, deploy, dir, signal } = job
  requireFolder(dir, step.cwd)
  const { cpu, memoryMb, pids } = buildPlans[service.settings.buildPlan]
  const isShared = loopbackVariable(context.config.buildEnv) !== undefined
  return await context.engine.runTask(
    {
      taskId: `${deploy.id}-${step.name.replace(/[^a-z0-9]+/gi, '-')}`,
      owner: ownerOf(service),
      files: { build: deploy.id, dir: relative(dir, step.cwd) },
      command: step.command,
      env: (view) => ({ ...baseEnv(view), ...step.env }),
      limits: { cpu, memoryBytes: memoryMb * MIB, pids },
      // A build is anybody's code from anywhere: it has no business with what runs.
      network: isShared ? 'host' : 'none',
      stack: stackOf(plan),
      ...userNamespacesOf(context.config, service),
      outputName: deployOutputName(deploy),
      timeoutMs: context.config.CP_BUILD_TIMEOUT_SECONDS * 1000,
    },
    signal,
  )
}

/** An earlier step may have put something else into its place, which the launcher would follow as root. */
function requireFolder(dir: string, folder: string): void {
  const path = relative(dir, folder)
  const found = statBeneath(dir, path)
  if (found.kind !== 'folder' || found.realPath !== path)
    throw new AppError('bad_request', 'Build failed: the build has put something else into the place of its own folder')
}

async function keepArtifact({ own, signal }: BuildJob, builtDir: string): Promise<string> {
  const artifact = await hashTree(builtDir, { signal })
  const kept = join(own.releases, artifact)
  await rename(builtDir, kept).catch((error: unknown) => {
    if (!isOccupied(error)) throw error
  })
  return artifact
}

const isOccupied = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOTEMPTY' || error.code === 'EEXIST')

const launchOf = (plan: BuildPlan): Launch => ({
  runtime: plan.runtime,
  startCommand: plan.startCommand ?? '',
  ...(plan.appDir !== undefined && { appDir: plan.appDir }),
  env: plan.runtimeEnv,
  stack: stackOf(plan),
})

function saveRelease({ context, service, deploy, secrets }: BuildJob, built: Pick<StoredRelease, 'artifact' | 'launch'>): void {
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
    insertRelease(context, { ...release, settings: { ...service.settings, headers, routes } }, secrets)
    updateDeploy(context.db, deploy.id, { releaseId: release.id }, now)
    if (detectedRuntime !== service.detectedRuntime) updateService(context.db, service.id, { detectedRuntime }, now)
  })()
}
