import type { Paths } from '../../platform/paths.ts'
import { describeError, type ServerLog } from '../../platform/server-log.ts'
import type { Collector } from '../logs/collector.ts'
import { startAccessFeed } from './access-feed.ts'
import { startTrafficPoll } from './poll.ts'
import { createSampler, type Sampler } from './sampler.ts'

export interface RunningTraffic {
  reader: Sampler
  stop(): Promise<void>
}

export interface TrafficOptions {
  paths: Pick<Paths, 'ingressSocket' | 'accessLogs'>
  collector: Collector
  /** Whether lines of a service are kept: those of a service that is being deleted would come after its others were removed. */
  isWanted(serviceId: string): boolean
  log: ServerLog
  now(): number
}

export function startTraffic({ paths, collector, isWanted, log, now }: TrafficOptions): RunningTraffic {
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
    hasService: isWanted,
    onError: (error) => log.error('access log not read', describeError(error)),
  })
  return {
    reader,
    async stop() {
      await Promise.all([poll.stop(), feed.stop()])
    },
  }
}
