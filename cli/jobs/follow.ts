import { isJobOver, type Job } from '../../shared/job.ts'
import type { Log } from '../../shared/log.ts'
import type { Service } from '../../shared/service.ts'
import { createClient } from '../api/client.ts'
import { pollUntil } from '../api/poll.ts'
import { CliError, Interrupted, RemoteExit } from '../base/error.ts'
import { showLogsDuring } from '../logs/during.ts'
import { createSeen } from '../logs/seen.ts'
import type { Context } from '../session/context.ts'
import { clean, cleanText } from '../terminal/text.ts'

/** What is followed: a one-off job or a run of a cron job, which the API tells in different words. */
export interface Followed<T> {
  service: Service
  first: T & { id: string }
  since: string
  ask: (client: Context['client']) => Promise<T & { id: string }>
  isOver: (seen: T) => boolean
  cancel: (client: Context['client']) => Promise<unknown>
}

/** Shows what a job writes until it is over. Ctrl-C cancels it, a second one leaves at once. @throws Interrupted when canceled so. */
export async function followJob<T>(context: Context, followed: Followed<T>): Promise<T> {
  const { service, first, since, ask, isOver, cancel } = followed
  const filters = { resource: [service.id], instance: [first.id] }
  const shown = {
    filters,
    seen: createSeen(since),
    onLog: ({ message }: Log) => {
      if (!context.isJson) context.print(cleanText(message))
    },
    onLost: () => context.note('The connection was lost; reconnecting …'),
  }
  const watch = (client: Context['client'], interrupted: AbortSignal) =>
    showLogsDuring({ ...shown, client, interrupted }, () => pollUntil(first, { ask: () => ask(client), isOver, interrupted }))
  try {
    return await watch(context.client, context.io.interrupted)
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error
    context.note(clean`\nCanceling ${first.id}. Ctrl-C again leaves it.`)
    // The client of the command is interrupted with it.
    const { signal } = new AbortController()
    const client = createClient(() => context.client.target(), signal)
    await cancel(client).catch((refusal: unknown) => {
      // The job has ended meanwhile.
      if (!(refusal instanceof CliError && refusal.code === 'conflict')) throw refusal
    })
    await watch(client, signal)
    throw error
  }
}

/** Follows a one-off job to its end, and ends as it did. @throws RemoteExit with its exit code; CliError when it has none. */
export async function awaitJob(context: Context, service: Service, job: Job): Promise<void> {
  const params = { serviceId: service.id, jobId: job.id }
  const ended = await followJob<Job>(context, {
    service,
    first: job,
    since: job.createdAt,
    ask: (client) => client.call('getJob', { params }),
    isOver: ({ status }) => isJobOver(status),
    cancel: (client) => client.call('cancelJob', { params }),
  })
  if (context.isJson) context.printJson(ended)
  endAs(ended, ended.status === 'succeeded')
}

type Ended = Pick<Job, 'exitCode' | 'reason'> & { status: string }

/** Ends the command as what was followed has ended. */
export function endAs({ status, exitCode, reason = '' }: Ended, hasSucceeded: boolean): void {
  if (hasSucceeded) return
  if (status === 'canceled') throw new CliError('conflict', `It was canceled. ${reason}`.trim())
  if (exitCode !== undefined && exitCode !== 0) throw new RemoteExit({ exitCode, signal: null })
  throw new CliError('conflict', `It did not succeed. ${reason}`.trim())
}
