import { serviceById } from '../../apps/services/store.ts'
import type { Context } from '../../boot/serve/context.ts'
import { describeError } from '../../platform/server-log.ts'
import { startAccessFeed } from './access-feed.ts'
import { startTrafficPoll } from './poll.ts'
import { createSampler, type Sampler } from './sampler.ts'

export interface RunningTraffic {
  reader: Sampler
  stop(): Promise<void>
}

/** Begins to read what the ingress counts and logs. */
export function startTraffic({
  paths,
  db,
  collector,
  log,
  now,
}: Pick<Context, 'paths' | 'db' | 'collector' | 'log' | 'now'>): RunningTraffic {
  const reader = createSampler()
  const poll = startTrafficPoll({
    sampler: reader,
    controlSocketPath: paths.ingressSocket,
    now,
    onError: (error) => log.error('traffic not read', describeError(error)),
  })
  const feed = startAccessFeed({
    dir: paths.accessLogs,
    collector,
    // One that is being deleted is asked no more: its lines would come after those before were removed.
    hasService: (serviceId) => serviceById(db, serviceId)?.deletedAt === null,
    onError: (error) => log.error('access log not read', describeError(error)),
  })
  return {
    reader,
    async stop() {
      await Promise.all([poll.stop(), feed.stop()])
    },
  }
}
