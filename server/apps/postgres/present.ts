import type { Postgres } from '../../../shared/postgres.ts'
import { backupProblemOf } from '../backups/health/problem.ts'
import type { AppContext } from '../context.ts'
import { lagSecondsNow } from '../datastores/lag-store.ts'
import { type Deps, presentCommon } from '../datastores/present.ts'
import type { StoredDatastore } from '../datastores/store.ts'
import { replicasOf } from './replicas.ts'
import { postgresById } from './store.ts'
import { presentUpgrade } from './upgrade-present.ts'
import { upgradeOf } from './upgrade-store.ts'

type PostgresDeps = Deps & Pick<AppContext, 'now'>

function lagOf({ db, now }: PostgresDeps, { id }: StoredDatastore): Pick<Postgres, 'replicationLagSeconds'> {
  const replicationLagSeconds = lagSecondsNow(db, id, now())
  return replicationLagSeconds === undefined ? {} : { replicationLagSeconds }
}

/** A database as callers see it. @throws Error for a row without its other half. */
export function presentPostgres(deps: PostgresDeps, datastore: StoredDatastore): Postgres {
  const own = postgresById(deps.db, datastore.id)
  if (own === undefined) throw new Error(`The database ${datastore.id} has half of its row`)
  const { databaseName, databaseUser, connectionPool, isAutoscaling, isHighlyAvailable, parameterOverrides } = own
  return {
    ...presentCommon(deps, datastore),
    ...backupProblemOf(deps, datastore, { isExpected: true }),
    role: datastore.primaryId === null ? 'primary' : 'replica',
    databaseName,
    databaseUser,
    diskSizeGB: datastore.sizeGb,
    diskAutoscalingEnabled: isAutoscaling,
    highAvailabilityEnabled: isHighlyAvailable,
    connectionPool,
    readReplicas: replicasOf(deps, datastore).map(({ id, name }) => ({ id, name })),
    ...(datastore.primaryId !== null && { primaryPostgresID: datastore.primaryId, ...lagOf(deps, datastore) }),
    ...presentUpgrade(upgradeOf(deps.db, datastore.id)),
    parameterOverrides,
  }
}
