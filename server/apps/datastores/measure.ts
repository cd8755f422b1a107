/** Asks servers of datastores how they are, seldom enough to be felt by nobody, and keeps what they say beside the other metrics. */
import { AppError } from '../../../shared/error.ts'
import { sampleOf } from '../../telemetry/metrics/datastore-samples.ts'
import { fineLevel, floorTo } from '../../telemetry/metrics/levels.ts'
import type { AppContext } from '../context.ts'
import { runningServer } from './endpoint.ts'
import { type DatastoreServers, serverOf } from './kind.ts'
import { datastoreById } from './store.ts'

type MeasureContext = Pick<AppContext, 'db' | 'now' | 'metrics'>

/** Returns what measures a datastore where that is due, and when it is due again (ms since 1970); undefined while it does not run. */
export function createMeasuring(context: MeasureContext, servers: DatastoreServers): (id: string) => Promise<number | undefined> {
  const before = context.metrics.datastores
  return async (id) => {
    const datastore = datastoreById(context.db, id)
    const running = runningServer(context.db, id)
    if (datastore === undefined || running === undefined) return void before.delete(id)
    const { figures } = serverOf(servers, datastore)
    if (figures === undefined) return undefined
    const last = before.get(id)
    const dueAt = last?.workloadId === running.id ? last.atMs + figures.everyMs : 0
    if (dueAt > context.now()) return dueAt
    try {
      const reading = { workloadId: running.id, figures: await figures.read(datastore, running.endpoint), atMs: context.now() }
      context.metrics.noteDatastore(id, sampleOf(floorTo(reading.atMs / 1000, fineLevel.stepSeconds), reading, last))
      before.set(id, reading)
    } catch (error) {
      // One that is busy, loads or ends is asked again; how it is otherwise stands elsewhere.
      if (!(error instanceof AppError)) throw error
    }
    return context.now() + figures.everyMs
  }
}
