import type { LogType } from '../../../shared/log.ts'
import type { OutputName, Outputs } from '../../engines/port/output.ts'
import type { Collector } from './collector.ts'
import { guessLevel } from './level.ts'
import type { LogRate } from './rate.ts'
import type { LogStore } from './store.ts'

/** The output of a workload, and what its lines are stored as. */
export interface LoggedOutput extends OutputName {
  instance: string
  deployId?: string
  type: Extract<LogType, 'app' | 'build'>
}

/** Brings what workloads write into the log store. */
export interface OutputLogs {
  /** Stores lines from now on as they come, beginning where an earlier control plane has stopped. */
  follow(output: LoggedOutput): void
  /** Stores the rest, an unterminated last line included, and removes the output. Repeatable. */
  close(output: LoggedOutput): Promise<void>
  /** Removes an output that nobody knows any more, with what was not stored of it. Repeatable. */
  discard(output: OutputName): Promise<void>
  /** Names of all outputs of a service that are kept. */
  list(serviceId: string): Promise<string[]>
}

export interface OutputLogOptions {
  outputs: Outputs
  collector: Collector
  store: LogStore
  rate?: LogRate
}

export function createOutputLogs({ outputs, collector, store, rate }: OutputLogOptions): OutputLogs {
  const follow = (output: LoggedOutput) => {
    const { serviceId: resource, name: _, ...origin } = output
    collector.follow({
      key: keyOf(output),
      source: outputs.open(output),
      lineOf: (message, now) => ({ ...origin, resource, timestampMs: now, level: guessLevel(message), message }),
      rate,
    })
  }
  return {
    follow,
    async close(output) {
      follow(output)
      await collector.remove(keyOf(output))
    },
    async discard(output) {
      await collector.unfollow(keyOf(output), { drain: false })
      await outputs.open(output).remove()
      store.forgetCursor(keyOf(output))
    },
    list: (serviceId) => outputs.list(serviceId),
  }
}

const keyOf = ({ serviceId, name }: OutputName): string => `${serviceId}/${name}`
