import type { Static, TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { Push } from '../../repositories/push-plan.ts'
import type { HostRequestToMerge } from '../port.ts'
import { requestOf } from '../pull-request.ts'
import { ChecksPayload, DeletePayload, InstallationPayload, PushPayload, RepositoryPayload, RequestPayload } from './shapes.ts'

export type HostPush = Omit<Push, 'workspaceId' | 'haveChecksPassed'>

export type HostEvent =
  | { kind: 'push'; push: HostPush }
  | { kind: 'checks'; urls: string[]; commit: string }
  | { kind: 'request'; urls: string[]; request: HostRequestToMerge }
  | { kind: 'repository'; action: 'renamed' | 'deleted'; urls: string[]; name: string }
  | { kind: 'installation'; action: 'deleted' | 'suspended' | 'unsuspended' }
  | { kind: 'none' }

const none: HostEvent = { kind: 'none' }

/** Hosts tell of this many commits in full; of more, their paths are not known. */
const TOLD_COMMITS = 20

/** Reads a payload that is signed already. One of a kind or form that nothing goes by is `none`. */
export function eventOf(name: string, payload: unknown): HostEvent {
  switch (name) {
    case 'push':
      return read(PushPayload, payload, pushOf)
    case 'delete':
      return read(DeletePayload, payload, deletionOf)
    case 'status':
    case 'check_suite':
    case 'check_run':
    case 'workflow_run':
      return read(ChecksPayload, payload, checksOf)
    case 'pull_request':
      return read(RequestPayload, payload, ({ repository, pull_request }) => ({
        kind: 'request',
        urls: urlsOf(repository),
        request: requestOf(pull_request),
      }))
    case 'repository':
      return read(RepositoryPayload, payload, ({ action, repository }) =>
        action === 'renamed' || action === 'deleted'
          ? { kind: 'repository', action, urls: urlsOf(repository), name: repository.full_name }
          : none,
      )
    case 'installation':
      return read(InstallationPayload, payload, ({ action }) => installationEvents[action] ?? none)
    default:
      return none
  }
}

/** An event of a repository whose URLs are known otherwise: those that the delivery tells are not gone by. */
export function about(event: HostEvent, urls: string[] | undefined): HostEvent {
  if (urls === undefined) return event
  switch (event.kind) {
    case 'push':
      return { kind: 'push', push: { ...event.push, urls } }
    case 'checks':
    case 'request':
    case 'repository':
      return { ...event, urls }
    default:
      return event
  }
}

const installationEvents: Partial<Record<string, HostEvent>> = {
  deleted: { kind: 'installation', action: 'deleted' },
  suspend: { kind: 'installation', action: 'suspended' },
  unsuspend: { kind: 'installation', action: 'unsuspended' },
}

const read = <S extends TSchema>(schema: S, payload: unknown, as: (value: Static<S>) => HostEvent): HostEvent =>
  Value.Check(schema, payload) ? as(payload) : none

const BRANCH = 'refs/heads/'
const isNoCommit = (commit: string): boolean => /^0+$/.test(commit)

function pushOf({ ref, after, repository, deleted = false, commits, total_commits, head_commit }: Static<typeof PushPayload>): HostEvent {
  if (!ref.startsWith(BRANCH)) return none
  const told = commits ?? []
  const isWhole = told.length > 0 && told.length < TOLD_COMMITS && (total_commits ?? told.length) === told.length
  const paths = told.flatMap(({ added, removed, modified }) => [...(added ?? []), ...(removed ?? []), ...(modified ?? [])])
  const branch = ref.slice(BRANCH.length)
  return {
    kind: 'push',
    push: {
      urls: urlsOf(repository),
      branch,
      isDefaultBranch: branch === repository.default_branch,
      commit: after,
      message: head_commit?.message ?? '',
      changedPaths: isWhole ? [...new Set(paths)] : undefined,
      isDeleted: deleted || isNoCommit(after),
    },
  }
}

const nothingLeft = { commit: '', message: '', changedPaths: undefined, isDeleted: true }

/** Gitea tells of a branch that went by this alone; GitHub by a push as well. */
function deletionOf({ ref, ref_type, repository }: Static<typeof DeletePayload>): HostEvent {
  if (ref_type !== 'branch') return none
  const push = { urls: urlsOf(repository), branch: ref, isDefaultBranch: false, ...nothingLeft }
  return { kind: 'push', push }
}

function checksOf({ repository, sha, commit, ...told }: Static<typeof ChecksPayload>): HostEvent {
  const { head_sha } = told.check_suite ?? told.check_run ?? told.workflow_run ?? {}
  const checked = head_sha ?? sha ?? commit?.id
  return checked === undefined ? none : { kind: 'checks', urls: urlsOf(repository), commit: checked }
}

const urlsOf = ({ clone_url, html_url, ssh_url }: Static<typeof RepositoryPayload>['repository']): string[] =>
  [clone_url, html_url, ssh_url].filter((url) => url !== undefined && url !== '').map(String)
