/**
 * A commit with those that it names as submodules, each fetched into a folder of its own while the tar is taken, so that no more than one way down
 * is on the disk at a time. Each is gone to as a repository of its own: by the same rules, and with what lets in at that one alone.
 */
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import type { AppContext } from '../../../context.ts'
import type { StoredService } from '../../../services/store.ts'
import { extractLimits } from '../../../sources/operations.ts'
import { keyHolderOf } from '../../deploy-keys/key-holder.ts'
import { archiveOf, type Pack, streamOf } from '../../git/archive.ts'
import { type CommitAt, fetchCommit } from '../../git/fetch-commit.ts'
import { closeGitFolder, openGitFolder } from '../../git/folder.ts'
import { openRemote } from '../../git/remote.ts'
import { joinTars } from './join-tars.ts'
import { readSubmodules, tooMany } from './read.ts'
import { locateSubmodule, MOST_LEVELS, MOST_SUBMODULES, type Submodule } from './rules.ts'

export interface Packing {
  service: StoredService
  signal: AbortSignal
  remark(text: string): void
}

interface Walk extends Packing {
  own: CommitAt
  left: number
}

interface Place extends CommitAt {
  prefix: string
  level: number
}

export function packWithSubmodules(context: AppContext, packing: Packing, own: CommitAt): Pack {
  const unwanted = new AbortController()
  const signal = AbortSignal.any([packing.signal, unwanted.signal])
  const tars = tarsOf(context, { ...packing, signal, own, left: MOST_SUBMODULES }, { ...own, prefix: '', level: 1 })
  const { joined, done } = joinTars(tars, extractLimits(context))
  const zipped = createGzip({ level: 1 })
  const flow = pipeline(joined, zipped)
  flow.catch(() => {})
  return {
    body: streamOf(zipped[Symbol.asyncIterator]()),
    async end() {
      unwanted.abort(new Error('Nobody takes it any more.'))
      zipped.destroy()
      joined.destroy()
      await Promise.allSettled([done, flow])
    },
  }
}

async function* tarsOf(context: AppContext, walk: Walk, place: Place): AsyncGenerator<AsyncIterable<Uint8Array>> {
  const { folder, commitId, prefix } = place
  const { signal } = walk
  yield archiveOf(context, { folder, commitId, signal, form: ['--format=tar', ...(prefix === '' ? [] : [`--prefix=${prefix}`])] })
  for (const submodule of await readSubmodules(context, { folder, commitId, signal })) yield* tarsBelow(context, walk, { place, submodule })
}

async function* tarsBelow(
  context: AppContext,
  walk: Walk,
  { place, submodule }: { place: Place; submodule: Submodule },
): AsyncGenerator<AsyncIterable<Uint8Array>> {
  const { service, signal, remark, own } = walk
  walk.left -= 1
  if (walk.left < 0 || place.level > MOST_LEVELS) throw tooMany()
  const { path, commitId } = submodule
  const { href: url } = locateSubmodule(submodule, { url: place.remote.url, own: own.remote.url })
  remark(`Fetching the submodule ${place.prefix}${path} of ${url}`)
  const remote = await openRemote(context, { workspaceId: service.workspaceId, serviceId: keyHolderOf(service), url, remark }, signal)
  const folder = await openGitFolder(context, remote)
  try {
    await fetchCommit(context, { folder, remote, commitId, signal })
    yield* tarsOf(context, walk, { folder, remote, commitId, prefix: `${place.prefix}${path}/`, level: place.level + 1 })
  } finally {
    await closeGitFolder(folder)
  }
}
