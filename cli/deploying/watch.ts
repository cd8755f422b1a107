import { type Deploy, type DeployStatus, isDeployRunning } from '../../shared/deploy.ts'
import type { Log } from '../../shared/log.ts'
import type { Client } from '../api/client.ts'
import { pollUntil } from '../api/poll.ts'
import { showLogsDuring } from '../logs/during.ts'
import { createSeen } from '../logs/seen.ts'

export interface WatchOptions {
  client: Client
  serviceId: string
  deployId: string
  onStatus: (status: DeployStatus) => void
  onLog: (log: Log) => void
  onLost: () => void
  interrupted: AbortSignal
}

/** Shows a deploy through restarts of the server. @returns the deploy as it ended. @throws Interrupted on Ctrl-C; the deploy goes on. */
export async function watchDeploy(options: WatchOptions): Promise<Deploy> {
  const { client, serviceId, deployId } = options
  const first = await client.call('getDeploy', { params: { serviceId, deployId } })
  const filters = { resource: [serviceId], instance: [deployId] }
  return showLogsDuring({ ...options, filters, seen: createSeen(first.createdAt) }, () =>
    pollDeploy(options, first, ({ status }) => !isDeployRunning(status)),
  )
}

export type PollOptions = Pick<WatchOptions, 'client' | 'serviceId' | 'deployId' | 'onStatus' | 'interrupted'>

/** Asks about a deploy until it `isOver`, through restarts of the server. @throws Interrupted on Ctrl-C. */
export function pollDeploy(options: PollOptions, first: Deploy, isOver: (deploy: Deploy) => boolean): Promise<Deploy> {
  const { client, serviceId, deployId, onStatus, interrupted } = options
  let told: DeployStatus | undefined
  return pollUntil(first, {
    ask: () => client.call('getDeploy', { params: { serviceId, deployId } }),
    isOver,
    onSeen({ status }) {
      if (status !== told) onStatus(status)
      told = status
    },
    interrupted,
  })
}
