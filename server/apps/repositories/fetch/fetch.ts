/**
 * One commit of a repository becomes an ordinary source. git fetches it, without its history, into a bare repository of this fetch alone, and
 * packs its tree; what comes out is received as an upload is, by the same rules and bounds. Nothing is checked out, so no hook, filter or
 * attribute of the repository has a say.
 */
import { AppError } from '../../../../shared/error.ts'
import { repositoryKey } from '../../../../shared/repository.ts'
import { whileThereIsRoom } from '../../../runtime/space/room.ts'
import type { AppContext } from '../../context.ts'
import type { StoredService } from '../../services/store.ts'
import { takeSource } from '../../sources/operations.ts'
import { type StoredSource, sourceOfCommit } from '../../sources/store.ts'
import { keyHolderOf } from '../deploy-keys/key-holder.ts'
import { type Pack, packCommit } from '../git/archive.ts'
import type { Remote } from '../git/environment.ts'
import { type CommitAt, fetchCommit } from '../git/fetch-commit.ts'
import { findRef } from '../git/find-ref.ts'
import { inGitFolder } from '../git/folder.ts'
import { readCommit } from '../git/read-commit.ts'
import { openRemote } from '../git/remote.ts'
import { remarksOn } from './remarks.ts'
import { packWithSubmodules } from './submodules/pack.ts'

export interface WantedCommit {
  service: StoredService
  ref: string
  signal: AbortSignal
  remark(text: string): void
  onKept(source: StoredSource): void
}

const roomForFetch = { what: 'what is fetched', advice: 'Its operator has to free some. Deploy again when that is done.' }

/** The source of a commit, fetched where none of it is kept. Repeatable. @throws AppError saying why it cannot be had; the signal's reason. */
export function fetchSource(context: AppContext, wanted: WantedCommit): Promise<void> {
  return whileThereIsRoom(context, roomForFetch, async (short) => {
    const signal = AbortSignal.any([wanted.signal, short])
    const { service, remark } = wanted
    const of = { workspaceId: service.workspaceId, serviceId: keyHolderOf(service) }
    const remote = await openRemote(context, { ...of, url: service.labels.repo, remark }, signal)
    await inGitFolder(context, remote, (folder) => fetchInto(context, { ...wanted, signal }, { folder, remote }))
  })
}

interface Place {
  folder: string
  remote: Remote
}

async function fetchInto(context: AppContext, wanted: WantedCommit, { folder, remote }: Place): Promise<void> {
  const { service, signal } = wanted
  const { repo, branch, submodules } = service.labels
  const ref = wanted.ref || branch
  const commitId = await findRef(context, { folder, remote, ref, signal })
  if (commitId === undefined) throw noSuchRef(repo, ref)
  const repository = `${repositoryKey(repo) ?? ''}${submodules ? ' with submodules' : ''}`
  const kept = sourceOfCommit(context.db, service.id, { repository, commitId })
  if (kept === undefined) await takeCommit(context, wanted, { folder, remote, commitId, repository })
  else context.db.transaction(() => wanted.onKept(kept))()
}

const noSuchRef = (url: string, ref: string): AppError =>
  new AppError(
    'bad_request',
    ref === ''
      ? `${url} has no commit yet. Push one, then deploy again.`
      : `${url} has no branch or tag ${ref}; it may have been renamed or deleted. A commit is named by its whole id.`,
  )

interface Found extends CommitAt {
  repository: string
}

async function takeCommit(context: AppContext, wanted: WantedCommit, found: Found): Promise<void> {
  const { service, signal, onKept } = wanted
  const { folder, remote, commitId, repository } = found
  await fetchCommit(context, { folder, remote, commitId, signal })
  const commit = await readCommit(context, { folder, commitId, signal })
  const pack = await packOf(context, wanted, found)
  try {
    await takeSource(context, {
      ...{ service, signal, body: pack.body, contentType: 'application/gzip' },
      commit: { ...commit, repository },
      requireRight: () => {},
      change: (apply) => context.db.transaction(apply)(),
      onKept,
    })
  } catch (error) {
    throw notTaken(error, { url: remote.url.href, commitId })
  } finally {
    await pack.end()
  }
}

async function packOf(context: AppContext, wanted: WantedCommit, { folder, remote, commitId }: CommitAt): Promise<Pack> {
  const { signal, remark, service } = wanted
  const { hasSubmodules, remarks } = await remarksOn(context, { folder, commitId, signal, areSubmodulesWanted: service.labels.submodules })
  for (const text of remarks) remark(text)
  return hasSubmodules && service.labels.submodules
    ? packWithSubmodules(context, wanted, { folder, remote, commitId })
    : packCommit(context, { folder, commitId, signal })
}

const SHORT_ID = 8

/** What an upload may not hold, a commit may not either; its words are those of an upload. */
function notTaken(error: unknown, { url, commitId }: { url: string; commitId: string }): unknown {
  if (!(error instanceof AppError) || (error.code !== 'bad_request' && error.code !== 'payload_too_large')) return error
  const message = `What ${url} holds at ${commitId.slice(0, SHORT_ID)} cannot be deployed. ${error.message}`
  return new AppError(error.code, message, { cause: error })
}
