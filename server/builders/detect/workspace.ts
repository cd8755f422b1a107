/**
 * A workspace is a folder of many packages with one lock file, and their dependencies hoisted into one node_modules. A package of one is
 * installed and released with all of it, as what it needs stands above its own folder.
 */
import { AppError } from '../../../shared/error.ts'
import { readPackageJson } from './package-json.ts'
import { isLocked } from './package-manager.ts'
import { type SourceView, viewOf } from './source-view.ts'
import { isMember, type MemberPatterns, parsePatterns } from './workspace-patterns.ts'

export interface WorkspacePlace {
  rootDir: string
  appDir: string
}

export function placeInWorkspace(upload: SourceView, appPath: string): WorkspacePlace {
  const alone = { rootDir: appPath, appDir: '' }
  const app = viewOf(upload, appPath)
  if (!app.has('package.json')) return alone
  const names = appPath.split('/').filter((name) => name !== '')
  for (let depth = names.length - 1; depth >= Math.max(0, names.length - MAX_LEVELS_UP); depth--) {
    const [rootDir, appDir] = [names.slice(0, depth).join('/'), names.slice(depth).join('/')]
    const root = viewOf(upload, rootDir)
    if (!isMember(appDir, memberPatterns(root))) continue
    // One that keeps a lock file while the root has none is installed by that.
    return isLocked(app) && !isLocked(root) ? alone : { rootDir, appDir }
  }
  return alone
}

export const isWorkspaceRoot = (files: SourceView): boolean => memberPatterns(files).included.length > 0

/** More of these were never seen. Patterns are anybody's, and what is matched by a thread that others wait for must be short. */
const MAX_PATTERNS = 200
const MAX_PATTERN_CHARS = 200
const MAX_STARS = 4
const MAX_LEVELS_UP = 8

export function memberPatterns(root: SourceView): MemberPatterns {
  const patterns = pnpmPackages(root) ?? readPackageJson(root)?.workspaces ?? []
  if (patterns.length > MAX_PATTERNS)
    throw new AppError(
      'bad_request',
      `The workspace names ${patterns.length} patterns, of which ${MAX_PATTERNS} are looked at: name folders by * instead`,
    )
  const isShort = (pattern: string) => pattern.length <= MAX_PATTERN_CHARS && pattern.split('*').length - 1 <= MAX_STARS
  return parsePatterns(patterns.filter(isShort))
}

function pnpmPackages(root: SourceView): string[] | undefined {
  const lines = root.read('pnpm-workspace.yaml')?.split(/\r?\n/)
  const at = lines?.findIndex((line) => /^packages\s*:/.test(line)) ?? -1
  if (lines === undefined || at < 0) return lines && []
  const first = lines[at] ?? ''
  // No pattern: one that looks for a bracket at each bracket takes minutes for a megabyte of them.
  const [from, to] = [first.indexOf('['), first.lastIndexOf(']')]
  if (from >= 0 && to > from)
    return first
      .slice(from + 1, to)
      .split(',')
      .flatMap(scalarOf)
  const rest = lines.slice(at + 1)
  const end = rest.findIndex((line) => !/^\s*(-|#|$)/.test(line))
  return rest.slice(0, end < 0 ? undefined : end).flatMap((line) => scalarOf(line.replace(/^\s*-/, '')))
}

const scalarOf = (text: string): string[] => /^\s*(?:'([^']+)'|"([^"]+)"|([^\s#'",]+))/.exec(text)?.slice(1).filter(Boolean) ?? []
