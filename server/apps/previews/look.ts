/** A look at the open requests of a repository makes up for deliveries that were lost, as while the server was down. */
import { AppError } from '../../../shared/error.ts'
import { maxPreviews } from '../../../shared/preview.ts'
import { repositoryKey } from '../../../shared/repository.ts'
import { inOneChange } from '../../platform/db/change.ts'
import type { AppContext } from '../context.ts'
import { type StoredService, serviceById } from '../services/store.ts'
import { type Located, locate } from '../source-hosts/hosts/credential.ts'
import type { HostRequestToMerge } from '../source-hosts/port.ts'
import { hasPreviews, noteRequest } from './requests.ts'
import { changePreview, findPreview, previewsOf, type StoredPreview } from './store.ts'

const MOST_PAGES = 30
const MOST_SINGLE = 2 * maxPreviews.ofService

/** Asks the host for the open requests and writes them down. @throws AppError where the workspace is not connected to it, or it does not answer. */
export async function lookAtRequests(context: AppContext, parent: StoredService, signal: AbortSignal): Promise<void> {
  const since = context.now()
  const located = requireLocated(context, parent)
  const open = await openRequests(located, signal)
  note(context, parent, { requests: open, since })
  const listed = new Set(open.map(({ number }) => number))
  const missing = openNow(context, parent).filter(({ number }) => !listed.has(number))
  for (const preview of missing.slice(0, MOST_SINGLE)) await lookAtMissing(context, { parent, located, preview }, signal)
}

export async function hearOf(context: AppContext, parent: StoredService, number: number, signal: AbortSignal): Promise<Heard> {
  const since = context.now()
  const { host, name } = requireLocated(context, parent)
  return { requests: [await host.request(name, number, signal)], since }
}

function requireLocated(context: AppContext, { workspaceId, labels }: StoredService): Located {
  const located = locate(context, workspaceId, labels.repo)
  if (located !== undefined) return located
  throw new AppError(
    'conflict',
    'The workspace is not connected to the host of this repository, so nothing is known of its requests. Connect it: cpctl sourcehost connect.',
  )
}

async function openRequests({ host, name }: Located, signal: AbortSignal): Promise<HostRequestToMerge[]> {
  const requests: HostRequestToMerge[] = []
  for (let page = 1; page <= MOST_PAGES; page += 1) {
    const found = await host.openRequests(name, page, signal)
    requests.push(...found.requests)
    if (found.isLast) break
  }
  return requests
}

export interface Heard {
  requests: readonly HostRequestToMerge[]
  since: number
}

/** Writes down what a host said of requests. A service may have been given another repository meanwhile. */
export function note(context: AppContext, { id, labels: { repo } }: StoredService, { requests, since }: Heard): void {
  inOneChange(context.db, () => {
    const parent = serviceById(context.db, id)
    if (parent === undefined || parent.deletedAt !== null || parent.labels.repo !== repo || !hasPreviews(parent)) return
    for (const request of requests) {
      const known = findPreview(context.db, { parentId: id, number: request.number })
      if (known === undefined || known.updatedAt <= since) noteRequest(context, parent, request)
    }
  })
}

const openNow = ({ db }: AppContext, { id, labels }: StoredService): StoredPreview[] =>
  previewsOf(db, id)
    .filter(({ isOpen, repository }) => isOpen && repository === repositoryKey(labels.repo))
    .toSorted((one, other) => Number(one.serviceId === null) - Number(other.serviceId === null))

interface Missing {
  parent: StoredService
  located: Located
  preview: StoredPreview
}

/** Lists move on while they are read, so that what they lack is believed to be closed when the host says so. */
async function lookAtMissing(
  context: AppContext,
  { parent, located: { host, name }, preview }: Missing,
  signal: AbortSignal,
): Promise<void> {
  const since = context.now()
  try {
    note(context, parent, { requests: [await host.request(name, preview.number, signal)], since })
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'not_found') throw error
    close(context, preview)
  }
}

/** The repository was there a moment ago, so that it is the request that is gone. */
function close({ db, now, work }: AppContext, preview: StoredPreview): void {
  inOneChange(db, () => {
    if (findPreview(db, preview)?.updatedAt !== preview.updatedAt) return
    changePreview(db, preview, { isOpen: false, updatedAt: now() })
    work.poke('previews', preview.parentId)
  })
}
