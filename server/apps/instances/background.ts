import { describeError } from '../../platform/server-log.ts'
import type { AppContext } from '../context.ts'
import type { StoredService } from '../services/store.ts'
import type { StoredInstance } from '../workloads/instance-store.ts'
import { drainInstance } from './drain.ts'
import { probeInstance } from './probe.ts'

/** What takes its time beside the reconciler: waiting for health, and draining. Each at most once for an instance. */
export interface Background {
  probe(service: StoredService, instance: StoredInstance): void
  drain(instance: StoredInstance): void
  /** Returns when all of it has ended; it ends early when the signal given at creation aborts. */
  settled(): Promise<void>
}

export function createBackground(context: AppContext, signal: AbortSignal): Background {
  const running = new Map<string, Promise<void>>()

  function run(key: string, instance: StoredInstance, task: () => Promise<void>): void {
    if (running.has(key)) return
    const done = task()
      .catch((error) => {
        if (!signal.aborted) context.log.error('background work failed', { instanceId: instance.id, ...describeError(error) })
      })
      .finally(() => {
        running.delete(key)
        if (!signal.aborted) context.work.poke('service', instance.serviceId)
      })
    running.set(key, done)
  }

  return {
    // A start of its own for each restart: the probe of an instance that died ends by itself.
    probe: (service, instance) =>
      run(`probe ${instance.id} ${instance.restarts}`, instance, () => probeInstance(context, service, { instance, signal })),
    drain: (instance) => run(`drain ${instance.id}`, instance, () => drainInstance(context, instance, signal)),
    settled: async () => void (await Promise.all(running.values())),
  }
}
