import type { Postgres } from '../../../shared/postgres.ts'
import { type Deps, presentCommon } from '../datastores/present.ts'
import type { StoredDatastore } from '../datastores/store.ts'
import { replicasOf } from './replicas.ts'
import { postgresById } from './store.ts'

/** A database as callers see it. @throws Error for a row without its other half. */
export function presentPostgres(deps: Deps, datastore: StoredDatastore): Postgres {
  const own = postgresById(deps.db, datastore.id)
  if (own === undefined) throw new Error(`The database ${datastore.id} has half of its row`)
  const { databaseName, databaseUser, connectionPool, isAutoscaling, isHighlyAvailable, parameterOverrides } = own
  return {
    ...presentCommon(deps, datastore),
    role: datastore.primaryId === null ? 'primary' : 'replica',
    databaseName,
    databaseUser,
    diskSizeGB: datastore.sizeGb,
    diskAutoscalingEnabled: isAutoscaling,
    highAvailabilityEnabled: isHighlyAvailable,
    connectionPool,
    readReplicas: replicasOf(deps, datastore).map(({ id, name }) => ({ id, name })),
    ...(datastore.primaryId !== null && { primaryPostgresID: datastore.primaryId }),
    parameterOverrides,
  }
}
