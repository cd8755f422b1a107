import { CliError } from '../base/error.ts'
import { type FollowOptions, followLogs } from './follow.ts'
import { logsSince } from './history.ts'

export interface DuringOptions extends Omit<FollowOptions, 'signal'> {
  interrupted: AbortSignal
}

/** Shows lines as they come while `work` is under way, and at its end those that were written just before. @throws what `work` throws. */
export async function showLogsDuring<T>(options: DuringOptions, work: () => Promise<T>): Promise<T> {
  const { client, filters, seen, onLog, onLost, interrupted } = options
  const ended = new AbortController()
  const signal = AbortSignal.any([ended.signal, interrupted])
  // A log that cannot be followed is no reason to lose sight of the work: what it had is read at the end.
  const following = followLogs({ client, filters, seen, onLog, onLost, signal }).catch(() => undefined)
  try {
    const result = await work()
    ended.abort()
    await following
    await readRest(options)
    return result
  } finally {
    ended.abort()
    await following
  }
}

/** The last lines may have been written just before the end was seen. Without the permission there are none to read. */
async function readRest({ client, filters, seen, onLog }: DuringOptions): Promise<void> {
  try {
    for await (const log of logsSince(client, { ...filters, startTime: seen.resumeTime() })) if (seen.isNew(log)) onLog(log)
  } catch (error) {
    if (!(error instanceof CliError)) throw error
  }
}
