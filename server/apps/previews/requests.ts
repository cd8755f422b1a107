import type { Database } from 'bun:sqlite'
import { previewLabel } from '../../../shared/preview.ts'
import { isCommitId, isRefName, repositoryKey } from '../../../shared/repository.ts'
import type { AppContext } from '../context.ts'
import { recordEvent } from '../events/store.ts'
import { type StoredService, servicesWithRepository } from '../services/store.ts'
import type { HostRequestToMerge } from '../source-hosts/port.ts'
import { isAwaitingApproval } from './plan.ts'
import { changePreview, findPreview, insertPreview, previewsOf, type StoredPreview } from './store.ts'

/** Whoever may open requests at a public repository decides how many there are; those of forks keep none of the others away. */
const MOST_KNOWN = 300

export interface TakenRequest {
  workspaceId: string
  urls: readonly string[]
  request: HostRequestToMerge
}

export const hasPreviews = ({ labels, previewOf }: StoredService): boolean =>
  previewOf === null && labels.repo !== '' && labels.previews.generation !== 'off'

/** Writes down what a host tells of a request, for each service that it concerns. Belongs in a transaction. Returns whether it concerns any. */
export function takeRequest(context: AppContext, { workspaceId, urls, request }: TakenRequest): boolean {
  const keys = urls.map(repositoryKey)
  const concerned = servicesWithRepository(context.db, workspaceId).filter(
    (service) => hasPreviews(service) && keys.includes(repositoryKey(service.labels.repo)),
  )
  for (const service of concerned) noteRequest(context, service, request)
  return concerned.length > 0
}

/** Writes down how a request of a service stands now. Belongs in a transaction. */
export function noteRequest(context: AppContext, service: StoredService, request: HostRequestToMerge): void {
  const { db, now } = context
  const key = { parentId: service.id, number: request.number }
  const known = findPreview(db, key)
  const isOpen = request.isOpen && isInto(service, request)
  if (known === undefined && !(isOpen && isSound(request) && hasRoom(db, service, request))) return
  const told = { ...toldBy(service, request), isOpen }
  if (known !== undefined && isSame(known, told)) return
  const isNews = known === undefined || known.headCommit !== told.headCommit || (isOpen && !known.isOpen)
  const pushed = { ...takenBack(known, told), ...told, ...(isNews && { pushedAt: now(), problem: null }), updatedAt: now() }
  if (known === undefined) insertPreview(db, { ...key, ...pushed, createdAt: now(), isAsked: false })
  else if (isSound(request)) changePreview(db, key, pushed)
  if (isNews) tellAwaiting(context, service, key)
  context.work.poke('previews', service.id)
}

/**
 * What people said of a request, and the comment at it, belong to the repository that the service had then. A stranger who opens and closes a
 * request again and again has nothing built by that: an approval ends with the close.
 */
function takenBack(known: StoredPreview | undefined, { repository, isFork, isOpen }: Told): Partial<StoredPreview> {
  if (known !== undefined && known.repository !== repository)
    return { isAsked: false, dismissedCommit: null, approvedCommit: null, commentMark: null, commentId: null, commentText: '' }
  return isFork && !isOpen ? { isAsked: false, approvedCommit: null } : {}
}

const hasRoom = (db: Database, { id }: StoredService, { isFork }: HostRequestToMerge): boolean =>
  previewsOf(db, id).filter((known) => known.isFork === isFork).length < MOST_KNOWN

type Told = Pick<
  StoredPreview,
  'repository' | 'title' | 'url' | 'headBranch' | 'headRepository' | 'headCommit' | 'isFork' | 'isOpen' | 'isLabelled'
>

const toldBy = ({ labels }: StoredService, request: HostRequestToMerge): Omit<Told, 'isOpen'> => ({
  repository: repositoryKey(labels.repo) ?? '',
  title: request.title,
  url: request.url,
  headBranch: request.branch,
  headRepository: request.repository,
  headCommit: request.commit,
  isFork: request.isFork,
  isLabelled: request.labels.includes(previewLabel),
})

const isSame = (known: StoredPreview, told: Told): boolean =>
  (Object.keys(told) as (keyof Told)[]).every((field) => known[field] === told[field])

const isInto = ({ labels: { branch } }: StoredService, { into }: HostRequestToMerge): boolean =>
  branch === '' ? into.isDefault : into.branch === branch

const isSound = ({ commit, branch, url }: HostRequestToMerge): boolean =>
  isCommitId(commit) && isRefName(branch) && /^https?:\/\//.test(url)

function tellAwaiting({ db, now }: AppContext, owner: StoredService, key: Pick<StoredPreview, 'parentId' | 'number'>): void {
  const preview = findPreview(db, key)
  if (preview === undefined || !preview.isOpen || !isAwaitingApproval(preview)) return
  const details = { request: preview.number, commitId: preview.headCommit, repository: preview.headRepository }
  recordEvent(db, { owner, type: 'preview_awaits_approval', details, now: now() })
}
