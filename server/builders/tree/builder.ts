import { join, relative } from 'node:path'
import { AppError } from '../../../shared/error.ts'
import { statBeneath } from '../../platform/files/tree/beneath.ts'
import { chownTree } from '../../platform/files/tree/chown.ts'
import { removeTree } from '../../platform/files/tree/remove.ts'
import { type Paths, type ServicePaths, temporaryIn } from '../../platform/paths.ts'
import { ensureFolder, ensureServiceFolders, isRoot } from '../../platform/service-folders.ts'
import { detectBuild } from '../detect/detect.ts'
import { refuseForeign } from '../detect/foreign.ts'
import { type BuildPlan, type DetectInput, stackOf } from '../detect/plan.ts'
import { findSourceRoot } from '../detect/source-root.ts'
import { openSourceView, viewOf } from '../detect/source-view.ts'
import { placeInWorkspace, type WorkspacePlace } from '../detect/workspace.ts'
import type { Launch } from '../launch.ts'
import type { Builder, BuildRequest, BuiltRelease, PlannedBuild, PlanRequest, RunnableStep } from '../port.ts'
import type { BuilderSettings } from '../settings.ts'
import { nodeHeadersEnv } from '../toolchains/node-headers.ts'
import { createOutages, type Outages } from '../toolchains/registry/outages.ts'
import { ensureSelfToolchain } from '../toolchains/self-toolchain.ts'
import type { Loan } from '../toolchains/store/holds.ts'
import { openToolchainStore, type ToolchainStore } from '../toolchains/store/store.ts'
import type { Toolchains } from '../toolchains/tool.ts'
import { DEFAULT_TOOLCHAIN_PATH, findToolchains, ownHomes, type Search } from '../toolchains/toolchains.ts'
import { uvSettings } from '../toolchains/uv/uv-settings.ts'
import { buildRelease } from './build.ts'
import { equip, tidy, withoutFetching } from './equip.ts'
import { loopbackVariable, sharedNetworkWarning } from './shared-network.ts'

export interface TreeBuilderOptions {
  paths: Paths
  config: Pick<BuilderSettings, 'CP_BUILD_PATH' | 'CP_TOOLCHAINS_MAX_MB' | 'buildEnv'>
  foldersInUse(): Iterable<string> | undefined
  /** What is run as a step has a network of its own unless it asks for the machine's. */
  hasOwnNetworks: boolean
  /** A user who owns nothing, for programs that fetch toolchains. */
  fetchUid(): number
  /** This executable, which also runs JavaScript where no node is installed; absent where it is not to. */
  executable?: string
  /** Does something that takes space on the disk, and gives it up when that runs short. */
  whileThereIsRoom<T>(act: (signal: AbortSignal) => Promise<T>): Promise<T>
  /** Keeps a built folder, which is taken away from where it stands, and returns the digest of its content. */
  keep(ownerId: string, folder: string, signal: AbortSignal): Promise<string>
}

const MIB = 1024 * 1024

export async function openTreeBuilder(options: TreeBuilderOptions): Promise<Builder> {
  const { paths, executable, config, foldersInUse } = options
  if (executable !== undefined) await ensureSelfToolchain({ dir: paths.toolchain, executable })
  const store = await openToolchainStore(paths.toolchains, { maxBytes: config.CP_TOOLCHAINS_MAX_MB * MIB, foldersInUse })
  const building = { ...options, store, outages: createOutages() }
  return {
    build: (request) => build(building, request),
    plan: (request) => planOnly(building, request),
    tidy: () => tidy(store, options),
  }
}

interface Building extends TreeBuilderOptions {
  store: ToolchainStore
  outages: Outages
}

interface Job extends Omit<Building, 'store'> {
  store: Loan
  request: BuildRequest
  own: ServicePaths
  dir: string
}

async function build(options: Building, request: BuildRequest): Promise<BuiltRelease> {
  const { owner, buildId, source, signal } = request
  const own = await ensureServiceFolders(options.paths, { id: owner.id, uid: owner.number })
  const dir = join(own.builds, buildId)
  const store = options.store.lend()
  const job = { ...options, store, request, own, dir }
  try {
    await prepareFolders(job)
    const upload = join(dir, 'source')
    await source.unpack(upload, signal)
    const place = placeOf(upload, request)
    const sourceDir = join(upload, place.rootDir)
    const plan = await planBuild(options, { ...request, sourceDir, appDir: place.appDir }, (input) => equipBuild(job, input))
    if (isRoot) await chownTree(upload, owner.number, owner.number)
    warnOfSharedNetwork(job)
    const built = await runPlan(job, { sourceDir, plan })
    return { artifact: await options.keep(owner.id, built, signal), launch: launchOf(plan) }
  } finally {
    await removeTree(dir)
    await store.giveBack()
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

async function equipBuild({ request, ...building }: Job, input: DetectInput): Promise<Toolchains> {
  const equipped = await building.whileThereIsRoom((short) =>
    equip(input, { ...building, search: searchIn(building.config), log: request.log, signal: AbortSignal.any([request.signal, short]) }),
  )
  return { ...equipped, nodeBuildEnv: await nodeHeadersEnv(equipped.tools) }
}

async function planOnly(options: Building, request: PlanRequest): Promise<PlannedBuild> {
  const { source, signal } = request
  const upload = temporaryIn(options.paths)
  const fetched: string[] = []
  const store = withoutFetching(options.store, (title) => fetched.push(`${title} would be fetched.`))
  const log = (line: string) => fetched.push(line)
  try {
    await source.unpack(upload, signal)
    const { rootDir, appDir } = placeOf(upload, request)
    const place = { ...request, sourceDir: join(upload, rootDir), appDir }
    const plan = await planBuild(options, place, (input) =>
      equip(input, { ...options, search: searchIn(options.config), store, log, signal }),
    )
    const { runtime, packageManager, steps, startCommand, publishPaths, notes } = plan
    return {
      ...{ runtime, rootDir, steps, publishPaths, notes: [...notes, ...fetched] },
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

interface Place extends Pick<PlanRequest, 'settings' | 'env'> {
  sourceDir: string
  appDir: string
}

const searchIn = (config: TreeBuilderOptions['config']): Search => ({
  searchPath: [...config.CP_BUILD_PATH, ...DEFAULT_TOOLCHAIN_PATH],
  homes: ownHomes(),
})

type Equip = (input: DetectInput) => Promise<Toolchains>

async function planBuild({ config, paths, executable }: TreeBuilderOptions, place: Place, equipped: Equip): Promise<BuildPlan> {
  const { sourceDir, appDir, settings, env } = place
  const toolchains = await findToolchains({
    ...searchIn(config),
    ...(executable !== undefined && { selfToolchainDir: paths.toolchain }),
  })
  const files = openSourceView(sourceDir)
  const input = {
    files: viewOf(files, appDir),
    ...(appDir !== '' && { workspace: { files, appDir } }),
    ...{ settings, env, toolchains },
  }
  refuseForeign(input)
  return detectBuild({ ...input, toolchains: await equipped(input) })
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
    env: { ...(plan.packageManager === 'uv' && uvSettings({ ...config.buildEnv, ...env })), ...config.buildEnv, ...env },
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
