import { join, relative } from 'node:path'
import { AppError } from '../../../shared/error.ts'
import { statBeneath } from '../../platform/files/tree/beneath.ts'
import { chownTree } from '../../platform/files/tree/chown.ts'
import { removeTree } from '../../platform/files/tree/remove.ts'
import type { Paths, ServicePaths } from '../../platform/paths.ts'
import { ensureFolder, ensureServiceFolders, isRoot } from '../../platform/service-folders.ts'
import { detectBuild } from '../detect/detect.ts'
import { type BuildPlan, type DetectInput, stackOf } from '../detect/plan.ts'
import { findSourceRoot } from '../detect/source-root.ts'
import { openSourceView, viewOf } from '../detect/source-view.ts'
import { nodeNeed } from '../detect/toolchain-needs.ts'
import { placeInWorkspace, type WorkspacePlace } from '../detect/workspace.ts'
import type { Launch } from '../launch.ts'
import type { Builder, BuildRequest, BuiltRelease, RunnableStep } from '../port.ts'
import type { BuilderSettings } from '../settings.ts'
import { provideNode } from '../toolchains/node/provide-node.ts'
import { nodeHeadersEnv } from '../toolchains/node-headers.ts'
import { ensureSelfToolchain } from '../toolchains/self-toolchain.ts'
import { unusedEntries } from '../toolchains/store/rules.ts'
import { openToolchainStore, type ToolchainStore } from '../toolchains/store/store.ts'
import type { Toolchains } from '../toolchains/tool.ts'
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
  /** Does something that takes space on the disk, and gives it up when that runs short. */
  whileThereIsRoom<T>(act: (signal: AbortSignal) => Promise<T>): Promise<T>
  /** Keeps a built folder, which is taken away from where it stands, and returns the digest of its content. */
  keep(ownerId: string, folder: string, signal: AbortSignal): Promise<string>
}

export async function openTreeBuilder(options: TreeBuilderOptions): Promise<Builder> {
  const { paths, executable } = options
  if (executable !== undefined) await ensureSelfToolchain({ dir: paths.toolchain, executable })
  const store = await openToolchainStore(paths.toolchains)
  return { build: (request) => build({ ...options, store }, request), tidy: (folders) => tidy(store, folders) }
}

async function tidy(store: ToolchainStore, folders: () => Iterable<string>): Promise<void> {
  const entries = await store.entries()
  if (unusedEntries(entries, { named: new Set(), now: Date.now() }).length === 0) return
  const named = new Set([...folders()].map((folder) => relative(store.dir, folder)))
  for (const entry of unusedEntries(entries, { named, now: Date.now() })) await store.remove(entry)
}

interface Job extends TreeBuilderOptions {
  store: ToolchainStore
  request: BuildRequest
  own: ServicePaths
  dir: string
}

async function build(options: TreeBuilderOptions & Pick<Job, 'store'>, request: BuildRequest): Promise<BuiltRelease> {
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
    const plan = await planBuild(job, { sourceDir, appDir: place.appDir })
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

function placeOf(upload: string, { rootDir, settings }: BuildRequest): WorkspacePlace {
  const { publishPath = '' } = settings
  return placeInWorkspace(openSourceView(upload), relative(upload, findSourceRoot({ dir: upload, rootDir, publishPath })))
}

interface Place {
  sourceDir: string
  appDir: string
}

async function planBuild(job: Job, { sourceDir, appDir }: Place): Promise<BuildPlan> {
  const { config, paths, executable, request } = job
  const files = openSourceView(sourceDir)
  const toolchains = await findToolchains({
    searchPath: [...config.CP_BUILD_PATH, ...DEFAULT_TOOLCHAIN_PATH],
    homes: ownHomes(),
    ...(executable !== undefined && { selfToolchainDir: paths.toolchain }),
  })
  const input = {
    files: viewOf(files, appDir),
    ...(appDir !== '' && { workspace: { files, appDir } }),
    settings: request.settings,
    env: request.env,
    toolchains,
  }
  return detectBuild({ ...input, toolchains: await equip(job, input) })
}

async function equip({ config, store, request, whileThereIsRoom }: Job, input: DetectInput): Promise<Toolchains> {
  const need = nodeNeed(input)
  if (need === undefined) return input.toolchains
  const { log } = request
  const equipped = await whileThereIsRoom(async (short) => {
    const signal = AbortSignal.any([request.signal, short])
    return await provideNode(input.toolchains, need, { store, env: config.buildEnv, log, signal })
  })
  return { ...equipped, nodeBuildEnv: await nodeHeadersEnv(equipped.tools) }
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
