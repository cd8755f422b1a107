import { messageOf } from '../../../../shared/error.ts'
import { describeError } from '../../../platform/server-log.ts'
import type { AppContext } from '../../context.ts'
import type { StoredDatastore } from '../../datastores/store.ts'
import { endUnfinished, type Receiver, startReceiver } from '../postgres/receiver.ts'
import type { RepositoryDeps } from '../repository/repository.ts'
import { currentSet } from './current-set.ts'
import { followLineage } from './lineage.ts'
import { ensureSlot } from './slot.ts'
import type { RunningSource } from './source.ts'
import type { Storing } from './storing.ts'
import type { StreamHealth } from './stream-health.ts'

/** A receiver that is refused ends within moments: one that has lasted for so long streams. */
const LASTING_MS = 4000

export interface Streamed {
  datastore: StoredDatastore
  source: RunningSource | undefined
}

export interface Streams {
  /** Has a receiver run where there is a source, and none where there is not. Returns whether one runs. */
  keep(streamed: Streamed): Promise<boolean>
  stop(datastoreId: string): Promise<void>
  stopAll(): void
  settled(): Promise<void>
}

export interface StreamParts {
  deps: RepositoryDeps
  storing: Pick<Storing, 'archive'>
  health: StreamHealth
  onStarted(datastoreId: string): void
  onEnded(datastoreId: string): void
}

interface Open {
  receiver: Receiver
  endpoint: string
  startedAt: number
}

export function createStreams(context: AppContext, parts: StreamParts): Streams {
  const open = new Map<string, Open>()
  const { health } = parts

  async function start(datastore: StoredDatastore, source: RunningSource): Promise<boolean> {
    try {
      const receiver = await openStream(context, parts, { datastore, source })
      if (receiver === undefined) return false
      open.set(datastore.id, { receiver, endpoint: endpointOf(source), startedAt: context.now() })
      void receiver.ended.then((words) => ended(datastore, words))
      if (context.stopping.aborted) void receiver.stop()
      parts.onStarted(datastore.id)
      return true
    } catch (error) {
      if (context.stopping.aborted) throw error
      if (health.failed(datastore, 'streamed', messageOf(error)) === 'first')
        context.log.error('log of a database not streamed', { datastoreId: datastore.id, ...describeError(error) })
      return false
    }
  }

  function ended(datastore: StoredDatastore, words: string): void {
    open.delete(datastore.id)
    if (context.stopping.aborted) return
    health.failed(datastore, 'streamed', words)
    parts.onEnded(datastore.id)
  }

  return {
    async keep({ datastore, source }) {
      const { id } = datastore
      if (open.has(id) && open.get(id)?.endpoint !== endpointOf(source)) await open.get(id)?.receiver.stop()
      if (source === undefined) {
        health.idle(id)
        return false
      }
      const running = open.get(id)
      if (running !== undefined && context.now() - running.startedAt >= LASTING_MS) health.sound(id, 'streamed')
      return running !== undefined || (await start(datastore, source))
    },
    stop: async (id) => void (await open.get(id)?.receiver.stop()),
    stopAll() {
      for (const { receiver } of open.values()) void receiver.stop()
    },
    settled: async () => void (await Promise.all([...open.values()].map(({ receiver }) => receiver.ended))),
  }
}

async function openStream(
  context: AppContext,
  { deps, storing }: Pick<StreamParts, 'deps' | 'storing'>,
  { datastore, source }: { datastore: StoredDatastore; source: RunningSource },
): Promise<Receiver | undefined> {
  const { id } = datastore
  await followLineage(context, { deps, storing }, datastore)
  const set = await currentSet(context, datastore)
  if (set === undefined || set.isRemoving) return undefined
  const onLost = async (timeline: number) => {
    endUnfinished(deps, id, timeline)
    await storing.archive(id)
  }
  await ensureSlot(context, { source, set, onLost })
  return await startReceiver(deps, source, id)
}

const endpointOf = (source: RunningSource | undefined): string =>
  source === undefined ? '' : `${source.endpoint.host}:${source.endpoint.port}`
