import type { SpawnedProcess } from '../../../platform/process/spawn.ts'
import type { AppContext } from '../../context.ts'
import { takeSource, type Upload } from '../../sources/operations.ts'
import type { Repository } from '../repository/command.ts'
import { startGit } from '../repository/run.ts'

/** The files of a commit become a source as those of an upload do, by the same rules. @throws AppError as `takeSource` does. */
export async function sourceOfCommit<T>(
  context: AppContext,
  { repository, commitId, ...upload }: Omit<Upload<T>, 'body' | 'contentType'> & { repository: Repository; commitId: string },
): Promise<T> {
  const abort = new AbortController()
  const call = { args: ['archive', '--format=tar.gz', '-1', commitId] }
  const { process, ended } = startGit(repository, call, AbortSignal.any([upload.signal, abort.signal]))
  try {
    void Promise.resolve(process.stdin?.end()).catch(() => {})
    return await takeSource(context, { ...upload, contentType: 'application/gzip', body: bodyOf(process) })
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
