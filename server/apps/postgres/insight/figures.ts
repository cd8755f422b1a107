import { Type } from '@sinclair/typebox'
import type { DatastoreFigures } from '../../../telemetry/metrics/datastore-samples.ts'
import type { AppContext } from '../../context.ts'
import type { DatastoreServer, ServerEndpoint } from '../../datastores/kind.ts'
import type { StoredDatastore } from '../../datastores/store.ts'
import { answered, asAdmin } from '../session.ts'
import { rowsOf } from './ask.ts'
import { FIGURES } from './statements.ts'

const Figures = Type.Object({ connections: Type.Number(), hits: Type.Number(), misses: Type.Number(), operations: Type.Number() })

/** Whoever asks logs in, which takes a process and some milliseconds. */
const EVERY_MS = 60_000

export const postgresFigures = (context: AppContext): Required<DatastoreServer>['figures'] => ({
  everyMs: EVERY_MS,
  read: (datastore, endpoint) => readFigures(context, datastore, endpoint),
})

async function readFigures(context: AppContext, { id }: StoredDatastore, endpoint: ServerEndpoint): Promise<DatastoreFigures> {
  const [found] = await answered(context, id, () => asAdmin(context, { id, endpoint }, (sql) => rowsOf(sql, FIGURES, Figures)))
  const { connections = 0, hits = 0, misses = 0, operations = 0 } = found ?? {}
  return { connections, hits, misses, operations, memory: 0, keys: 0, evictions: 0 }
}
