import { type Deploy, type DeployStatus, isDeployRunning } from '../../shared/deploy.ts'
import type { Log } from '../../shared/log.ts'
import type { Client } from '../client.ts'
import { CliError } from '../error.ts'
import { followLogs, GIVE_UP_MS, sleep } from '../logs/follow.ts'
import { logsSince } from '../logs/history.ts'
import { createSeen, type Seen } from '../logs/seen.ts'

/** A deploy is asked about often at first, as small ones take less than a second; times in milliseconds. */
const QUICK_POLL_MS = 50
const QUICK_FOR_MS = 3000
const SLOW_POLL_MS = 1000

export interface WatchOptions {
  client: Client
  serviceId: string
  deployId: string
  /** A status on the way; the last one is in the result. */
  onStatus: (status: DeployStatus) => void
  onLog: (log: Log) => void
  onLost: () => void
  interrupted: AbortSignal
}

/**
 * Shows a deploy's build log and statuses until it is live or has ended, through restarts of the server.
 * @returns the deploy as it ended. @throws Interrupted on Ctrl-C; the deploy goes on.
 */
export async function watchDeploy(options: WatchOptions): Promise<Deploy> {
  const { client, serviceId, deployId, interrupted } = options
  const first = await client.call('getDeploy', { params: { serviceId, deployId } })
  const seen = createSeen(first.createdAt)
  const ended = new AbortController()
  const signal = AbortSignal.any([ended.signal, interrupted])
  const filters = { resource: [serviceId], instance: [deployId], type: ['build' as const] }
  // A log that cannot be followed is no reason to lose sight of the deploy: what it had is read at the end.
  const following = followLogs({ client, filters, seen, onLog: options.onLog, onLost: options.onLost, signal }).catch(() => undefined)
  try {
    const last = await pollDeploy(options, first, ({ status }) => !isDeployRunning(status))
    ended.abort()
    await following
    await readRest(options, seen)
    return last
  } finally {
    ended.abort()
    await following
  }
}

export type PollOptions = Pick<WatchOptions, 'client' | 'serviceId' | 'deployId' | 'onStatus' | 'interrupted'>

/** Asks about a deploy until it `isOver`, through restarts of the server. @throws Interrupted on Ctrl-C. */
export async function pollDeploy(options: PollOptions, first: Deploy, isOver: (deploy: Deploy) => boolean): Promise<Deploy> {
  const { client, serviceId, deployId, onStatus, interrupted } = options
  const startedAt = performance.now()
  let answeredAt = startedAt
  let deploy = first
  let told: DeployStatus | undefined
  while (!isOver(deploy)) {
    if (deploy.status !== told) onStatus(deploy.status)
    told = deploy.status
    await sleep(performance.now() - startedAt < QUICK_FOR_MS ? QUICK_POLL_MS : SLOW_POLL_MS, interrupted)
    interrupted.throwIfAborted()
    try {
      deploy = await client.call('getDeploy', { params: { serviceId, deployId } })
      answeredAt = performance.now()
    } catch (error) {
      const isPassing = error instanceof CliError && (error.code === 'unavailable' || error.code === 'rate_limited')
      if (!isPassing || performance.now() - answeredAt > GIVE_UP_MS) throw error
      await sleep(SLOW_POLL_MS, interrupted)
    }
  }
  return deploy
}

/** The last lines may have been written just before the end was seen. Without the permission there are none to read. */
async function readRest({ client, serviceId, deployId, onLog }: WatchOptions, seen: Seen): Promise<void> {
  const filters = { resource: [serviceId], instance: [deployId], type: ['build' as const], startTime: seen.resumeTime() }
  try {
    for await (const log of logsSince(client, filters)) if (seen.isNew(log)) onLog(log)
  } catch (error) {
    if (!(error instanceof CliError)) throw error
  }
}
