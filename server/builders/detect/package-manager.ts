import { shellWord } from '../shell-word.ts'
import { FROM_FIRST_PACKAGE } from '../toolchains/stand-in.ts'
import { type PackageJson, readPackageJson } from './package-json.ts'
import type { DetectInput } from './plan.ts'
import type { SourceView } from './source-view.ts'
import type { Member } from './workspace-members.ts'

export interface PackageManager {
  name: 'npm' | 'pnpm' | 'yarn' | 'bun'
  reason: string
  install: string
  /** Tells which install scripts have not been run, which the exit code does not. */
  tellBlocked?: string
  run: (script: string) => string
  /** Builds members of a workspace that its app needs, in this order; where it cannot, each is built in its own folder. */
  buildMembers?: (members: readonly Member[]) => string
  env: Record<string, string>
  cacheEnv: Record<string, string>
}

const lockFiles = [
  ['bun.lock', 'bun'],
  ['bun.lockb', 'bun'],
  ['pnpm-lock.yaml', 'pnpm'],
  ['yarn.lock', 'yarn'],
  ['package-lock.json', 'npm'],
  ['npm-shrinkwrap.json', 'npm'],
] as const

export const lockFileOf = (files: SourceView): string | undefined => lockOf(files)?.[0]

export const isLocked = (files: SourceView): boolean => lockFileOf(files) !== undefined

type Wanted = Pick<PackageManager, 'name' | 'reason'>

/** By its lock file, else by `packageManager`. A workspace is installed in its root, by what that says. */
export function wantedManager({ files, settings, workspace }: DetectInput, pkg: PackageJson): Wanted {
  const lock = lockOf(workspace?.files ?? files)
  if (lock !== undefined) return { name: lock[1], reason: lock[0] }
  const packageManager = pinOf(workspace, pkg)
  const name = /^(npm|pnpm|yarn|bun)@/.exec(packageManager ?? '')?.[1] as PackageManager['name'] | undefined
  if (name !== undefined) return { name, reason: `packageManager ${packageManager?.split('+')[0]}` }
  return { name: settings.runtime === 'bun' ? 'bun' : 'npm', reason: 'no lock file' }
}

const lockOf = (files: SourceView) => lockFiles.find(([path]) => files.has(path))

export const pinOf = (workspace: DetectInput['workspace'], pkg: PackageJson): string | undefined =>
  (workspace && readPackageJson(workspace.files)?.packageManager) ?? pkg.packageManager

/** The one that is wanted; Bun without Node.js or where the service wants it, as it reads the lock files of the others. */
export function choosePackageManager(input: DetectInput, pkg: PackageJson, part?: WorkspacePart): PackageManager {
  const { settings, toolchains, workspace } = input
  const files = workspace?.files ?? input.files
  const { name, reason } = wantedManager(input, pkg)
  const packageManager = pinOf(workspace, pkg)
  const project = {
    files,
    pkg: { ...pkg, packageManager },
    isLocked: lockOf(files) !== undefined,
    reason,
    part,
    isProvided: toolchains.manager !== undefined,
  }
  if (name === 'bun') return bun(project)
  if (settings.runtime === 'bun') return bun({ ...project, isLocked: false, reason: `${reason}; the service's runtime is bun` })
  if (toolchains.tools.node === undefined || toolchains.tools.npm === undefined)
    return bun({ ...project, isLocked: false, reason: `${reason}; there is no Node.js with npm on this server` })
  if (name === 'pnpm') return pnpm(project)
  return name === 'yarn' ? yarn(project) : npm(project)
}

interface Project {
  files: SourceView
  pkg: PackageJson
  isLocked: boolean
  reason: string
  /** Whether there is one of the toolchains, which npx need not fetch. */
  isProvided: boolean
  part: WorkspacePart | undefined
}

/** What of a workspace is installed: an app of a name, and what it needs, with the tools of the root. */
export interface WorkspacePart {
  name: string
  dir: string
  isBuilt: boolean
}

function npm({ pkg, isLocked, reason, part }: Project): PackageManager {
  const only = part === undefined ? '' : ` --workspace ${shellWord(part.dir)} --include-workspace-root`
  return {
    name: 'npm',
    reason,
    install: `${isLocked ? 'npm ci' : 'npm install'}${only}${forBuild({ pkg, part }, '--include=dev')}`,
    run: (script) => `npm run ${shellWord(script)}`,
    buildMembers: (members) => `npm run build ${members.map(({ dir }) => `--workspace ${shellWord(dir)}`).join(' ')}`,
    env: quietNpm,
    cacheEnv: { npm_config_cache: 'npm' },
  }
}

/** What a build needs is installed even if the service's own NODE_ENV says production. */
const forBuild = ({ pkg, part }: Pick<Project, 'pkg' | 'part'>, flag: string): string =>
  pkg.scripts.build !== undefined || part?.isBuilt ? ` ${flag}` : ''

function bun({ isLocked, reason }: Project): PackageManager {
  return {
    name: 'bun',
    reason,
    // Hard links, the default, would let a later build change the files of a release through the cache.
    install: isLocked ? 'bun install --frozen-lockfile --backend=copyfile' : 'bun install --backend=copyfile',
    tellBlocked: `bun pm untrusted 2>&1 | ${FROM_FIRST_PACKAGE}`,
    run: (script) => `bun run ${shellWord(script)}`,
    env: {},
    cacheEnv: { BUN_INSTALL_CACHE_DIR: 'bun' },
  }
}

/** Run through npx, which fetches the very version with npm's own settings for registries and certificates. */
function pnpm({ files, pkg, isLocked, reason, isProvided, part }: Project): PackageManager {
  const version = versionOf(pkg, 'pnpm') ?? pnpmVersion(files.head('pnpm-lock.yaml'))
  const only = part === undefined ? '' : ` --filter ${shellWord(`${part.name}...`)} --filter '{.}'`
  const command = isProvided ? 'pnpm' : `npx --yes ${shellWord(`pnpm@${version}`)}`
  return {
    name: 'pnpm',
    reason,
    install: `${command} install${isLocked ? ' --frozen-lockfile' : ''}${forBuild({ pkg, part }, '--prod=false')}${only}`,
    run: (script) => `${command} run ${shellWord(script)}`,
    ...(part && { buildMembers: () => `${command} --filter ${shellWord(`${part.name}^...`)} run build` }),
    // Copies, for the same reason as with Bun. pnpm must not fetch yet another version of itself.
    env: { ...quietNpm, npm_config_package_import_method: 'copy', npm_config_manage_package_manager_versions: 'false', CI: 'true' },
    cacheEnv: { npm_config_cache: 'npm', npm_config_store_dir: 'pnpm' },
  }
}

function yarn(project: Project): PackageManager {
  const lock = project.files.head('yarn.lock')
  const isClassic = versionOf(project.pkg, 'yarn')?.startsWith('1.') ?? (lock === undefined || lock.includes('# yarn lockfile v1'))
  return isClassic ? yarnClassic(project) : yarnBerry(project)
}

function yarnClassic({ pkg, isLocked, reason, isProvided }: Project): PackageManager {
  const command = isProvided ? 'yarn' : `npx --yes ${shellWord(`yarn@${versionOf(pkg, 'yarn') ?? '1'}`)}`
  return {
    name: 'yarn',
    reason,
    install: `${command} install${isLocked ? ' --frozen-lockfile' : ''}${forBuild({ pkg, part: undefined }, '--production=false')}`,
    run: (script) => `${command} run ${shellWord(script)}`,
    env: quietNpm,
    cacheEnv: { npm_config_cache: 'npm', YARN_CACHE_FOLDER: 'yarn' },
  }
}

/** Yarn 2 and later, which installs development dependencies whatever NODE_ENV says. */
function yarnBerry({ files, pkg, isLocked, reason, isProvided }: Project): PackageManager {
  const command = isProvided ? 'yarn' : `npx --yes ${shellWord(`@yarnpkg/cli-dist@${versionOf(pkg, 'yarn') ?? '4'}`)}`
  return {
    name: 'yarn',
    reason,
    install: `${command} install${isLocked ? ' --immutable' : ''}`,
    run: (script) => `${command} run ${shellWord(script)}`,
    // Plug'n'Play would leave the release pointing into the build cache.
    env: { ...quietNpm, ...(files.has('.pnp.cjs') ? {} : { YARN_NODE_LINKER: 'node-modules' }) },
    cacheEnv: { npm_config_cache: 'npm', YARN_GLOBAL_FOLDER: 'yarn' },
  }
}

const quietNpm = { npm_config_audit: 'false', npm_config_fund: 'false', npm_config_update_notifier: 'false' }

function versionOf(pkg: PackageJson, name: string): string | undefined {
  const [manager, version] = pkg.packageManager?.split('@') ?? []
  return manager === name ? version?.split('+')[0] : undefined
}

function pnpmVersion(lock: string | undefined): string {
  const lockVersion = /^lockfileVersion:\s*'?(\d+)/m.exec(lock ?? '')?.[1]
  return { '5': '7', '6': '8' }[lockVersion ?? ''] ?? '10'
}
