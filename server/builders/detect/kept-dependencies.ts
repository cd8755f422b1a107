/**
 * Whether the result of an install can be put in place again by a later build. It can where it follows from the lock file and what stands
 * beside it alone, which scripts of the project itself, local packages and generators that read the source break.
 */
import type { PackageJson } from './package-json.ts'
import { lockFileOf, type PackageManager } from './package-manager.ts'
import type { SourceView } from './source-view.ts'

export interface Install {
  files: SourceView
  pkg: PackageJson
  manager: Pick<PackageManager, 'name' | 'cacheEnv'>
  isWorkspace: boolean
}

const ownScripts = ['preinstall', 'install', 'postinstall', 'preprepare', 'prepare', 'postprepare', 'prepublish']

const settingFiles = ['package.json', '.npmrc', '.yarnrc', 'bunfig.toml', '.pnpmfile.cjs', 'pnpm-workspace.yaml']

/** The files that an install follows from; undefined where there are others as well, or nobody can tell. */
export function installInputs({ files, pkg, manager, isWorkspace }: Install): string[] | undefined {
  const lock = lockFileOf(files)
  if (lock === undefined || isWorkspace || isPlugAndPlay(manager)) return undefined
  if (whyNotKept({ files, pkg }) !== undefined) return undefined
  return [lock, ...settingFiles.filter((path) => files.has(path))]
}

/** What of a locked project has its dependencies be installed anew each time; undefined where nothing has. */
export function whyNotKept({ files, pkg }: Pick<Install, 'files' | 'pkg'>): string | undefined {
  const own = ownScripts.find((name) => pkg.scripts[name] !== undefined)
  if (own !== undefined) return `package.json has the script ${own}, which may read all of the source`
  if (files.has('binding.gyp')) return 'binding.gyp is compiled by the install'
  if (pkg.packages.has('@prisma/client')) return '@prisma/client is generated out of the source'
  const settings = ['package.json', 'pnpm-workspace.yaml'].map((path) => files.read(path) ?? '').join('\n')
  if (/["'](?:file|link|portal):/.test(settings)) return 'package.json names packages within the source'
  return settings.includes('patchedDependencies') ? 'packages are patched' : undefined
}

/** Yarn 2 and later keeps more beside node_modules. */
const isPlugAndPlay = ({ cacheEnv }: Install['manager']): boolean => 'YARN_GLOBAL_FOLDER' in cacheEnv
