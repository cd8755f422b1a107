/**
 * Whether the result of an install can be put in place again by a later build. It can where it follows from the lock file and what stands
 * beside it alone, which scripts of the project itself, local packages and generators that read the source break.
 */
import { lockFileOf, type PackageManager } from './package-manager.ts'
import { type SourceView, viewOf } from './source-view.ts'
import type { Member } from './workspace-members.ts'

export interface Install {
  root: SourceView
  /** The packages of the source that it is for: that of the root, and of a workspace those that are installed. */
  packages: readonly Member[]
  manager: Pick<PackageManager, 'name' | 'cacheEnv'>
}

const ownScripts = ['preinstall', 'install', 'postinstall', 'preprepare', 'prepare', 'postprepare', 'prepublish']

const settingFiles = ['package.json', '.npmrc', '.yarnrc', 'bunfig.toml', '.pnpmfile.cjs', 'pnpm-workspace.yaml']

/** The files that an install follows from; undefined where there are others as well, or nobody can tell. */
export function installInputs({ root, packages, manager }: Install): string[] | undefined {
  const lock = lockFileOf(root)
  if (lock === undefined || isPlugAndPlay(manager)) return undefined
  if (whyNotKept({ root, packages }) !== undefined) return undefined
  return [lock, ...settingFiles.filter((path) => root.has(path)), ...packages.flatMap(({ dir }) => (dir === '' ? [] : [manifestIn(dir)]))]
}

/** What of a locked project has its dependencies be installed anew each time; undefined where nothing has. */
export function whyNotKept({ root, packages }: Pick<Install, 'root' | 'packages'>): string | undefined {
  for (const { dir, pkg } of packages) {
    const own = ownScripts.find((name) => pkg.scripts[name] !== undefined)
    if (own !== undefined) return `${manifestIn(dir)} has the script ${own}, which may read all of the source`
    if (viewOf(root, dir).has('binding.gyp')) return 'binding.gyp is compiled by the install'
    if (pkg.packages.has('@prisma/client')) return '@prisma/client is generated out of the source'
  }
  const settings = [...packages.map(({ dir }) => manifestIn(dir)), 'pnpm-workspace.yaml'].map((path) => root.read(path) ?? '')
  if (settings.some((text) => /["'](?:file|link|portal):/.test(text))) return 'package.json names packages within the source'
  return settings.some((text) => text.includes('patchedDependencies')) ? 'packages are patched' : undefined
}

const manifestIn = (dir: string): string => (dir === '' ? 'package.json' : `${dir}/package.json`)

/** Yarn 2 and later keeps more beside node_modules. */
const isPlugAndPlay = ({ cacheEnv }: Install['manager']): boolean => 'YARN_GLOBAL_FOLDER' in cacheEnv
