import { join, relative } from 'node:path'
import { AppError } from '../../../shared/error.ts'
import { statBeneath } from '../../platform/files/tree/beneath.ts'
import { chownTree } from '../../platform/files/tree/chown.ts'
import { removeTree } from '../../platform/files/tree/remove.ts'
import { type Paths, type ServicePaths, temporaryIn } from '../../platform/paths.ts'
import { ensureFolder, ensureServiceFolders, isRoot } from '../../platform/service-folders.ts'
import { detectBuild } from '../detect/detect.ts'
import { type BuildPlan, stackOf } from '../detect/plan.ts'
import { findSourceRoot } from '../detect/source-root.ts'
import { openSourceView, viewOf } from '../detect/source-view.ts'
import { placeInWorkspace, type WorkspacePlace } from '../detect/workspace.ts'
import type { Launch } from '../launch.ts'
import type { Builder, BuildRequest, BuildSettings, BuiltRelease, PlannedBuild, PlanRequest, RunnableStep } from '../port.ts'
import type { BuilderSettings } from '../settings.ts'
import { ensureSelfToolchain } from '../toolchains/self-toolchain.ts'
import { DEFAULT_TOOLCHAIN_PATH, findToolchains, ownHomes } from '../toolchains/toolchains.ts'
import { buildRelease } from './build.ts'
import { loopbackVariable, sharedNetworkWarning } from './shared-network.ts'

export interface TreeBuilderOptions {
  paths: Paths
  config: Pick<BuilderSettings, 'CP_BUILD_PATH' | 'buildEnv'>
  /** What is run as a step has a network of its own unless it asks for the machine's. */
  hasOwnNetworks: boolean
  /** This executable, which also runs JavaScript where no node is installed; absent where it is not to. */
  executable?: string
  /** Keeps a built folder, which is taken away from where it stands, and returns the digest of its content. */
  keep(ownerId: string, folder: string, signal: AbortSignal): Promise<string>
}

export async function openTreeBuilder(options: TreeBuilderOptions): Promise<Builder> {
  const { paths, executable } = options
  if (executable !== undefined) await ensureSelfToolchain({ dir: paths.toolchain, executable })
  return { build: (request) => build(options, request), plan: (request) => planOnly(options, request) }
}

interface Job extends TreeBuilderOptions {
  request: BuildRequest
  own: ServicePaths
  dir: string
}

async function build(options: TreeBuilderOptions, request: BuildRequest): Promise<BuiltRelease> {
  const { owner, buildId, source, signal } = request
  const own = await ensureServiceFolders(options.paths, { id: owner.id, uid: owner.number })
  const dir = join(own.builds, buildId)
  const job = { ...options, request, own, dir }
  try {
    await prepareFolders(job)
    const upload = join(dir, 'source')
    await source.unpack(upload, signal)
    const place = placeOf(upload, request)
    const sourceDir = join(upload, place.rootDir)
    const plan = await planBuild(options, { sourceDir, appDir: place.appDir, settings: request.settings })
    if (isRoot) await chownTree(upload, owner.number, owner.number)
    warnOfSharedNetwork(job)
    const built = await runPlan(job, { sourceDir, plan })
    return { artifact: await options.keep(owner.id, built, signal), launch: launchOf(plan) }
  } finally {
    await removeTree(dir)
  }
}

async function prepareFolders({ paths, request, own, dir }: Job): Promise<void> {
  const { owner, clearsCache } = request
  if (clearsCache) {
    await removeTree(own.cache)
    await ensureServiceFolders(paths, { id: owner.id, uid: owner.number })
  }
  await removeTree(dir)
  await ensureFolder(dir, 0o710, { uid: 0, gid: owner.number })
}

async function planOnly(options: TreeBuilderOptions, request: PlanRequest): Promise<PlannedBuild> {
  const { source, settings, signal } = request
  const upload = temporaryIn(options.paths)
  try {
    await source.unpack(upload, signal)
    const { rootDir, appDir } = placeOf(upload, request)
    const { runtime, packageManager, steps, startCommand, publishPaths, notes } = await planBuild(options, {
      sourceDir: join(upload, rootDir),
      appDir,
      settings,
    })
    return {
      ...{ runtime, rootDir, steps, publishPaths, notes },
      ...(packageManager !== undefined && { packageManager }),
      ...(appDir !== '' && { appDir }),
      ...(startCommand !== undefined && { startCommand }),
    }
  } finally {
    await removeTree(upload)
  }
}

function placeOf(upload: string, { rootDir, settings }: PlanRequest): WorkspacePlace {
  const { publishPath = '' } = settings
  return placeInWorkspace(openSourceView(upload), relative(upload, findSourceRoot({ dir: upload, rootDir, publishPath })))
}

interface Place {
  sourceDir: string
  appDir: string
  settings: BuildSettings
}

async function planBuild({ config, paths, executable }: TreeBuilderOptions, { sourceDir, appDir, settings }: Place): Promise<BuildPlan> {
  const toolchains = await findToolchains({
    searchPath: [...config.CP_BUILD_PATH, ...DEFAULT_TOOLCHAIN_PATH],
    homes: ownHomes(),
    ...(executable !== undefined && { selfToolchainDir: paths.toolchain }),
  })
  const files = openSourceView(sourceDir)
  return detectBuild({
    files: viewOf(files, appDir),
    ...(appDir !== '' && { workspace: { files, appDir } }),
    settings,
    toolchains,
  })
}

function warnOfSharedNetwork({ config, hasOwnNetworks, request }: Job): void {
  const variable = loopbackVariable(config.buildEnv)
  if (variable !== undefined && hasOwnNetworks) request.log(sharedNetworkWarning(variable))
}

async function runPlan({ config, request, own, dir }: Job, { sourceDir, plan }: { sourceDir: string; plan: BuildPlan }): Promise<string> {
  const { owner, env, log, signal } = request
  const network: RunnableStep['network'] = loopbackVariable(config.buildEnv) === undefined ? 'none' : 'host'
  return await buildRelease({
    buildDir: dir,
    sourceDir,
    owner: isRoot ? { uid: 0, gid: owner.number, maker: owner.number } : undefined,
    cacheDir: own.cache,
    plan,
    env: { ...config.buildEnv, ...env },
    runStep: async ({ name, command, cwd, env }) => {
      requireFolder(dir, cwd)
      return await request.runStep({ name, command, dir: relative(dir, cwd), env, stack: stackOf(plan), network })
    },
    log,
    signal,
  })
}

/** An earlier step may have put something else into its place, which the launcher would follow as root. */
function requireFolder(dir: string, folder: string): void {
  const path = relative(dir, folder)
  const found = statBeneath(dir, path)
  if (found.kind !== 'folder' || found.realPath !== path)
    throw new AppError('bad_request', 'Build failed: the build has put something else into the place of its own folder')
}

const launchOf = (plan: BuildPlan): Launch => ({
  runtime: plan.runtime,
  startCommand: plan.startCommand ?? '',
  ...(plan.appDir !== undefined && { appDir: plan.appDir }),
  env: plan.runtimeEnv,
  stack: stackOf(plan),
})
