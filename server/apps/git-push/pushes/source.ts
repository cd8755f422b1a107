import type { SpawnedProcess } from '../../../platform/process/spawn.ts'
import type { AppContext } from '../../context.ts'
import { takeSource, type Upload } from '../../sources/operations.ts'
import { commitOf } from '../../sources/store.ts'
import type { Repository } from '../repository/command.ts'
import type { Commit } from '../repository/repository.ts'
import { startGit } from '../repository/run.ts'

export async function sourceOfCommit<T>(
  context: AppContext,
  { repository, from, ...upload }: Omit<Upload<T>, 'body' | 'contentType' | 'commit'> & { repository: Repository; from: Commit },
): Promise<T> {
  const abort = new AbortController()
  const call = { args: ['archive', '--format=tar.gz', '-1', from.commitId] }
  const { process, ended } = startGit(repository, call, AbortSignal.any([upload.signal, abort.signal]))
  try {
    void Promise.resolve(process.stdin?.end()).catch(() => {})
    return await takeSource(context, {
      ...upload,
      commit: { ...commitOf(from), repository: null },
      contentType: 'application/gzip',
      body: bodyOf(process),
    })
  } finally {
    abort.abort()
    await ended.catch(() => {})
  }
}

/** An archive that git could not write to its end is cut off, which whoever unpacks it sees. */
function bodyOf({ stdout }: SpawnedProcess): ReadableStream<Uint8Array> {
  if (stdout === undefined) throw new Error('git was started without its output')
  return stdout
}
