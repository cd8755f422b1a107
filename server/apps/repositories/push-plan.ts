import { isCommitId, repositoryKey } from '../../../shared/repository.ts'
import type { StoredService } from '../services/store.ts'

/** A branch that somebody has pushed to, as a host, a look at the branch or our own git tells of it. */
export interface Push {
  workspaceId: string | undefined
  urls: readonly string[]
  branch: string
  isDefaultBranch: boolean
  commit: string
  message: string
  /** From the root of the repository; undefined where they are not known. */
  changedPaths: readonly string[] | undefined
  isDeleted: boolean
  /** Whether the commit's checks have passed, which services with `checksPass` wait for. */
  haveChecksPassed: boolean
}

export type PushVerdict =
  | { kind: 'deploy' }
  | { kind: 'wait' }
  | { kind: 'ignore'; reason: string }
  | { kind: 'branch_deleted' }
  | { kind: 'none' }

export interface PushTarget extends Pick<StoredService, 'labels' | 'settings' | 'suspendedAt'> {
  newestCommit: string | null
}

/** Beyond this many paths, those of a push are taken as unknown: the filter would hold everybody up. */
const MAX_PATHS = 3000

const nothing: PushVerdict = { kind: 'none' }

export function planPush(push: Push, { labels, settings, suspendedAt, newestCommit }: PushTarget): PushVerdict {
  const { autoDeployTrigger, repo, branch, buildFilter } = labels
  const key = repositoryKey(repo)
  const isBranch = branch === '' ? push.isDefaultBranch : branch === push.branch
  const isOurs = key !== undefined && isBranch && push.urls.some((url) => repositoryKey(url) === key)
  if (!isOurs || autoDeployTrigger === 'off' || suspendedAt !== null) return nothing
  if (push.isDeleted) return { kind: 'branch_deleted' }
  if (!isCommitId(push.commit) || push.commit === newestCommit) return nothing
  if (isSkipped(push.message)) return { kind: 'ignore', reason: 'Its message asks for it.' }
  if (!touches(push.changedPaths, { ...buildFilter, rootDir: settings.rootDir }))
    return { kind: 'ignore', reason: 'It changes nothing that the build filter lets through.' }
  return { kind: autoDeployTrigger === 'checksPass' && !push.haveChecksPassed ? 'wait' : 'deploy' }
}

const SKIP = /\[(?:skip (?:deploy|render|ci|cd)|(?:deploy|render|ci|cd) skip)\]/i

export const isSkipped = (message: string): boolean => SKIP.test(message)

interface Filter {
  paths: readonly string[]
  ignoredPaths: readonly string[]
  rootDir: string
}

function touches(changedPaths: readonly string[] | undefined, { paths, ignoredPaths, rootDir }: Filter): boolean {
  if (changedPaths === undefined || changedPaths.length > MAX_PATHS) return true
  const root = rootDir.replace(/^(?:\.?\/)+|\/+$/g, '')
  const wanted = paths.length > 0 ? paths : [root === '' || root === '.' ? '**' : `${root}/**`]
  const [included, ignored] = [matcherOf(wanted), matcherOf(ignoredPaths)]
  return changedPaths.some((path) => included(path) && !ignored(path))
}

function matcherOf(patterns: readonly string[]): (path: string) => boolean {
  const globs = patterns.map((pattern) => new Bun.Glob(pattern.replace(/^(?:\.?\/)+/, '')))
  return (path) => globs.some((glob) => glob.match(path))
}
