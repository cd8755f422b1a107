import type { Database } from 'bun:sqlite'
import { serviceFilter } from '../apps/services/filter.ts'
import type { Viewer } from '../apps/services/require.ts'
import { type StoredService, selectServices } from '../apps/services/store.ts'

const MOST_SERVICES = 100_000

/** All services that somebody may see: metrics are read without pages. */
export const visibleServices = (db: Database, viewer: Viewer): StoredService[] =>
  selectServices(db, { ...serviceFilter(viewer, {}, undefined), limit: MOST_SERVICES })
