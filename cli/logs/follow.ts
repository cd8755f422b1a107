import type { Log, LogSubscribeQuery } from '../../shared/log.ts'
import { operationOf } from '../../shared/operations/all.ts'
import type { Client } from '../api/client.ts'
import { GIVE_UP_MS } from '../api/poll.ts'
import { pathOf } from '../api/request.ts'
import { CliError, isPassing } from '../base/error.ts'
import { sleep } from '../base/sleep.ts'
import type { Seen } from './seen.ts'
import { readLogSocket } from './socket.ts'

const RETRY_MS = [100, 250, 500, 1000, 2000]

export interface FollowOptions {
  client: Client
  filters: Omit<LogSubscribeQuery, 'startTime'>
  seen: Seen
  onLog: (log: Log) => void
  onLost: () => void
  signal: AbortSignal
}

/**
 * Reads lines as they come until `signal` aborts. When the connection breaks it is made again from the last line on,
 * through restarts of the server, so that no line is missed and none comes twice.
 *
 * @throws CliError when the server refuses, cannot be reached at first, or stays away for `GIVE_UP_MS`.
 */
export async function followLogs(options: FollowOptions): Promise<void> {
  const { client, seen, signal } = options
  let attempt = 0
  let hasBeenOpen = false
  let lostAt = performance.now()
  while (!signal.aborted) {
    // Anew each time: the token may have been renewed meanwhile.
    const target = await client.target()
    const query = { ...options.filters, startTime: seen.resumeTime() }
    const end = await readLogSocket(target, pathOf(operationOf('subscribeLogs'), { query }), {
      signal,
      onOpen: () => {
        attempt = 0
      },
      onLog: (log) => {
        if (seen.isNew(log)) options.onLog(log)
      },
    })
    if (signal.aborted) return
    if (end.wasOpen) {
      hasBeenOpen = true
      lostAt = performance.now()
      options.onLost()
    } else await checkRefusal(options, end.refusedStatus, hasBeenOpen)
    if (performance.now() - lostAt > GIVE_UP_MS) throw new CliError('unavailable', `${target.url} has not come back.`)
    await sleep(RETRY_MS[Math.min(attempt++, RETRY_MS.length - 1)] ?? 0, signal)
  }
}

/** A refused WebSocket tells a status and no reason: the same question asked over HTTP gives it. */
async function checkRefusal({ client, filters }: FollowOptions, refusedStatus: number | undefined, hasBeenOpen: boolean): Promise<void> {
  try {
    await client.call('listLogs', { query: { ...filters, limit: 1 } })
  } catch (error) {
    if (!isPassing(error) || !hasBeenOpen) throw error
    return
  }
  if (!hasBeenOpen && refusedStatus !== undefined && refusedStatus < 500 && refusedStatus !== 429) {
    throw new CliError('unavailable', `The server refuses to stream logs (${refusedStatus}).`, {
      hint: 'If a proxy stands before it, let WebSockets pass through it.',
    })
  }
}
