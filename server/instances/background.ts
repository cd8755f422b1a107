import type { Context } from '../context.ts'
import { releaseById } from '../deploys/release-store.ts'
import { SHARED_ADDRESS } from '../engines/loopback-address.ts'
import { describeError } from '../server-log.ts'
import { isRoot } from '../services/folders.ts'
import { hostOf } from '../services/present.ts'
import type { StoredService } from '../services/store.ts'
import { drainInstance } from './drain.ts'
import { waitUntilHealthy } from './health.ts'
import { instanceById, type StoredInstance, updateInstance } from './store.ts'

/** What takes its time beside the reconciler: waiting for health, and draining. Each at most once for an instance. */
export interface Background {
  probe(service: StoredService, instance: StoredInstance): void
  drain(instance: StoredInstance): void
  /** Returns when all of it has ended; it ends early when the signal given at creation aborts. */
  settled(): Promise<void>
}

export function createBackground(context: Context, signal: AbortSignal): Background {
  const running = new Map<string, Promise<void>>()

  function run(key: string, instance: StoredInstance, task: () => Promise<void>): void {
    if (running.has(key)) return
    const done = task()
      .catch((error) => {
        if (!signal.aborted) context.log.error('background work failed', { instanceId: instance.id, ...describeError(error) })
      })
      .finally(() => {
        running.delete(key)
        if (!signal.aborted) context.work.pokeService(instance.serviceId)
      })
    running.set(key, done)
  }

  return {
    // A start of its own for each restart: the probe of an instance that died ends by itself.
    probe: (service, instance) =>
      run(`probe ${instance.id} ${instance.restarts}`, instance, () => probe(context, service, { instance, signal })),
    drain: (instance) => run(`drain ${instance.id}`, instance, () => drainInstance(context, instance, signal)),
    settled: async () => void (await Promise.all(running.values())),
  }
}

async function probe(
  context: Context,
  service: StoredService,
  { instance, signal }: { instance: StoredInstance; signal: AbortSignal },
): Promise<void> {
  const { id, port, restarts } = instance
  const address = instanceById(context.db, id)?.address ?? SHARED_ADDRESS
  const ended = new AbortController()
  const stopListening = context.engine.onExit((exited) => {
    if (exited === id) ended.abort()
  })
  try {
    const path = releaseById(context.db, instance.releaseId)?.settings.healthCheckPath ?? ''
    const check = {
      type: service.type,
      address,
      port,
      path,
      host: hostOf(context, service.slug),
      uid: isRoot && address === SHARED_ADDRESS ? service.uid : undefined,
      refused: async () => void (await context.engine.exposeLoopback(id, port)),
    }
    await waitUntilHealthy(check, AbortSignal.any([signal, ended.signal]))
    const now = instanceById(context.db, id)
    if (now?.phase === 'starting' && now.restarts === restarts) updateInstance(context.db, id, { phase: 'ready' })
  } catch (error) {
    if (!ended.signal.aborted) throw error
  } finally {
    stopListening()
  }
}
