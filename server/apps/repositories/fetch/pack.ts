import { messageOf } from '../../../../shared/error.ts'
import { startCommand, wholeOutput } from '../../../platform/process/command.ts'
import { gitProblem } from '../git/problem.ts'
import { type GitCall, type GitContext, gitCommand } from '../git/run.ts'

export interface Pack {
  body: ReadableStream<Uint8Array>
  end(): Promise<void>
}

export function packCommit(
  context: GitContext,
  { folder, commitId, signal }: Pick<GitCall, 'folder' | 'signal'> & { commitId: string },
): Pack {
  const args = ['-C', folder, 'archive', '--format=tar.gz', '-1', commitId]
  const running = startCommand(gitCommand(context, { folder, args }), { stdout: 'pipe', signal })
  const chunks = wholeOutput(running)
  const next = async () => {
    try {
      return await chunks.next()
    } catch (error) {
      signal.throwIfAborted()
      throw gitProblem(undefined, messageOf(error), [])
    }
  }
  return {
    body: new ReadableStream(
      {
        async pull(controller) {
          const { done, value } = await next()
          if (done) controller.close()
          else controller.enqueue(value)
        },
      },
      { highWaterMark: 0 },
    ),
    async end() {
      running.process.kill('SIGKILL')
      await running.done.catch(() => {})
    },
  }
}
