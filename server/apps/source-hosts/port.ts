import type { SourceHostName } from '../../../shared/source-host.ts'

export interface HostRepository {
  /** owner/name */
  name: string
  cloneUrl: string
  url: string
  isPrivate: boolean
  defaultBranch: string
}

export interface RepositoryToken {
  username: string
  token: string
}

/** What the checks of a commit come to; of those that failed or go on, one by name. */
export type CommitChecks = { state: 'pending'; check?: string } | { state: 'passed' } | { state: 'failed'; check: string }

export interface RepositoryPage {
  repositories: HostRepository[]
  isLast: boolean
}

export interface WantedHook {
  url: string
  secret: string
}

/** A request to merge a branch, maybe one of another repository. */
export interface HostRequestToMerge {
  number: number
  title: string
  url: string
  isOpen: boolean
  /** Whether its commits come from another repository than the one that they are to go into, or from one that is gone. */
  isFork: boolean
  branch: string
  repository: string
  commit: string
  into: { branch: string; isDefault: boolean }
  labels: string[]
}

export interface RequestPage {
  requests: HostRequestToMerge[]
  isLast: boolean
}

export type ReportState = 'queued' | 'in_progress' | 'success' | 'failure' | 'canceled' | 'inactive'

/** How a deploy of a commit goes. Links lead to pages of ours. */
export interface CommitReport {
  /** Id of the deploy, by which a host finds again what an earlier try has made. */
  deployId: string
  commit: string
  state: ReportState
  before: ReportState | null
  /** Whether this deploy is the newest of its commit: it alone decides what is said of the commit itself. */
  isNewest: boolean
  environment: string
  description: string
  logUrl: string
  serviceUrl?: string
  reportId: string | null
}

/** Webhooks of single repositories, where a host has no app with one of its own. Both calls can be repeated. */
export interface RepositoryHooks {
  ensure(repository: string, hook: WantedHook, signal: AbortSignal): Promise<string>
  remove(repository: string, hookId: string, signal: AbortSignal): Promise<void>
}

/**
 * One account at a host, with the rights that a workspace was given there. Every call throws AppError: `unavailable` where the host gives
 * no answer that can be read, `rate_limited` with the seconds it asks for, `forbidden` where it no longer lets us in, `not_found`.
 */
export interface SourceHost {
  readonly provider: SourceHostName
  /** A page of the account's repositories, the first being 1, of `REPOSITORIES_PER_PAGE` at most. */
  repositories(page: number, signal: AbortSignal): Promise<RepositoryPage>
  /** One repository by owner/name; of one that was renamed, what it is called now. */
  repository(name: string, signal: AbortSignal): Promise<HostRepository>
  /** A token that reads this repository, as short-lived and as narrow as the host has them. */
  tokenFor(repository: string, signal: AbortSignal): Promise<RepositoryToken>
  /** What others say of a commit; our own reports do not count. A commit of which nobody says anything is `pending`. @throws AppError payload_too_large of too many. */
  checksOf(repository: string, commit: string, signal: AbortSignal): Promise<CommitChecks>
  /** Tells how a deploy goes, which can be repeated. Returns the host's id of the deployment, null where it has none. */
  report(repository: string, report: CommitReport, signal: AbortSignal): Promise<string | null>
  comment(repository: string, comment: { request: number; text: string; id?: string }, signal: AbortSignal): Promise<string>
  /** The oldest comment at a request that holds this text, among its first hundred; undefined where there is none. */
  findComment(repository: string, wanted: { request: number; text: string }, signal: AbortSignal): Promise<string | undefined>
  openRequests(repository: string, page: number, signal: AbortSignal): Promise<RequestPage>
  /** One request, open or not. @throws AppError not_found where there is none. */
  request(repository: string, number: number, signal: AbortSignal): Promise<HostRequestToMerge>
  readonly hooks?: RepositoryHooks
}

export const REPOSITORIES_PER_PAGE = 50
export const REQUESTS_PER_PAGE = 10

/** What reports are told apart from other people's by; the environment follows. */
export const REPORT_CONTEXT = 'cpd/'
