import type { Postgres } from '../../../shared/postgres.ts'
import type { AppContext } from '../context.ts'
import { newestLag } from '../datastores/lag-store.ts'
import { type Deps, presentCommon } from '../datastores/present.ts'
import type { StoredDatastore } from '../datastores/store.ts'
import { replicasOf } from './replicas.ts'
import { postgresById } from './store.ts'

type PostgresDeps = Deps & Pick<AppContext, 'now'>

const RECENT_SECONDS = 60

function lagOf({ db, now }: PostgresDeps, { id }: StoredDatastore): Pick<Postgres, 'replicationLagSeconds'> {
  const nowSeconds = Math.floor(now() / 1000)
  const newest = newestLag(db, id, { since: nowSeconds - RECENT_SECONDS, until: nowSeconds })
  return newest === undefined ? {} : { replicationLagSeconds: newest.lagMs / 1000 }
}

/** A database as callers see it. @throws Error for a row without its other half. */
export function presentPostgres(deps: PostgresDeps, datastore: StoredDatastore): Postgres {
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
    ...(datastore.primaryId !== null && { primaryPostgresID: datastore.primaryId, ...lagOf(deps, datastore) }),
    parameterOverrides,
  }
}
