import type { Database } from 'bun:sqlite'
import { serviceFilter } from '../apps/services/filter.ts'
import { type StoredService, selectServices } from '../apps/services/store.ts'
import type { Viewer } from '../identity/scopes/protection.ts'

const MOST_SERVICES = 100_000

/** Metrics are read without pages, so this lists all services that somebody may see. */
export const visibleServices = (db: Database, viewer: Viewer): StoredService[] =>
  selectServices(db, { ...serviceFilter(viewer, {}, undefined), limit: MOST_SERVICES })
