import type { Database } from 'bun:sqlite'
import { datastoresWithin, type StoredDatastore } from '../apps/datastores/store.ts'
import { serviceFilter } from '../apps/services/filter.ts'
import { type StoredService, selectServices } from '../apps/services/store.ts'
import type { Actor } from '../http/handlers/call.ts'
import type { Viewer } from '../identity/scopes/protection.ts'

const MOST_SERVICES = 100_000

/** Metrics are read without pages, so this lists all services that somebody may see. */
export const visibleServices = (db: Database, viewer: Viewer): StoredService[] =>
  selectServices(db, { ...serviceFilter(viewer, {}, undefined), limit: MOST_SERVICES })

/** None for those who may read metrics and see no datastores: their names would be told. */
export const visibleDatastores = (db: Database, actor: Actor): StoredDatastore[] =>
  actor.permissions.has('datastores.read') ? datastoresWithin(db, actor) : []
