import type { Database } from 'bun:sqlite'
import type { Placed } from '../../identity/scopes/scope.ts'
import { placeOf } from '../services/store.ts'
import type { StoredDisk } from './store.ts'

/** A disk is where its service is, and a kept one stays where its deleted service was. */
export const placeOfDisk = (
  db: Database,
  { serviceId, keptEnvironmentId }: Pick<StoredDisk, 'serviceId' | 'keptEnvironmentId'>,
): Placed => ({
  id: serviceId,
  environmentId: placeOf(db, serviceId).environmentId ?? keptEnvironmentId,
})
