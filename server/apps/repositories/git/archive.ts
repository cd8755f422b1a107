import { messageOf } from '../../../../shared/error.ts'
import { startCommand, wholeOutput } from '../../../platform/process/command.ts'
import { gitProblem } from './problem.ts'
import { type GitCall, type GitContext, gitCommand } from './run.ts'

export interface Pack {
  body: ReadableStream<Uint8Array>
  end(): Promise<void>
}

interface Packed extends Pick<GitCall, 'folder' | 'signal'> {
  commitId: string
  form: readonly string[]
}

export function packCommit(context: GitContext, packed: Omit<Packed, 'form'>): Pack {
  const chunks = archiveOf(context, { ...packed, form: ['--format=tar.gz', '-1'] })
  return { body: streamOf(chunks), end: async () => void (await chunks.return(undefined)) }
}

/** The files of a commit as `git archive` writes them; git ends with whoever takes them. @throws AppError as `gitProblem`; the signal's reason. */
export async function* archiveOf(context: GitContext, { folder, commitId, form, signal }: Packed): AsyncGenerator<Uint8Array, void> {
  const args = ['-C', folder, 'archive', ...form, commitId]
  const running = startCommand(gitCommand(context, { folder, args }), { stdout: 'pipe', signal })
  try {
    yield* wholeOutput(running)
  } catch (error) {
    signal.throwIfAborted()
    throw gitProblem(undefined, messageOf(error), [])
  } finally {
    running.process.kill('SIGKILL')
    await running.done.catch(() => {})
  }
}

export const streamOf = (chunks: AsyncIterator<Uint8Array>): ReadableStream<Uint8Array> =>
  new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await chunks.next()
        if (done) controller.close()
        else controller.enqueue(value)
      },
    },
    { highWaterMark: 0 },
  )
