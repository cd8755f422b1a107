import { defaultPostgresPlan, defaultPostgresSizeGb, type PostgresCreate } from '../../../shared/postgres.ts'
import type { Actor } from '../../http/handlers/call.ts'
import { withinQuotas } from '../../identity/quotas/enforce.ts'
import { inOneChange } from '../../platform/db/change.ts'
import type { AppContext } from '../context.ts'
import { allowListOf } from '../datastores/allow-list.ts'
import { insertCredential, passwordPurpose } from '../datastores/credential-store.ts'
import { addDatastore, refuseBadSize, refuseLargeDatastore } from '../datastores/operations.ts'
import type { StoredDatastore } from '../datastores/store.ts'
import { namesOf } from './names.ts'
import { refuseBadParameters } from './parameters.ts'
import { requirePooler } from './pooler.ts'
import { chooseVersion, programsOf } from './programs.ts'
import { setReplicas, setStandby } from './replicas.ts'
import { type StoredSpare, sparePurpose, takeSpare } from './spare-store.ts'
import { newPassword } from './sql.ts'
import { insertPostgres, type StoredPostgres } from './store.ts'

/** Writes a database down; it is made when the change is. @throws AppError as told by the operation. */
export function createPostgres(context: AppContext, actor: Actor, body: PostgresCreate): StoredDatastore {
  const { db } = context
  const { name, plan = defaultPostgresPlan, diskSizeGB: sizeGb = defaultPostgresSizeGb, environmentId, parameterOverrides } = body
  const names = namesOf(body)
  const version = chooseVersion(context, body.version)
  const ipAllowList = allowListOf(body.ipAllowList)
  refuseBadParameters(parameterOverrides ?? {})
  refuseLargeDatastore(context, 'postgres', plan)
  requirePooler(context, body.connectionPool)
  return inOneChange(db, () =>
    withinQuotas(context, actor.workspaceId, () => {
      const spare = spareFor(context, { version, sizeGb })
      refuseBadSize(context, { sizeGb, given: spare?.sizeGb ?? 0 })
      const wanted = { kind: 'postgres', name, plan, version, sizeGb, ipAllowList, environmentId } as const
      const datastore = addDatastore(context, actor, { ...wanted, ...(spare && adopted(spare, sizeGb)) })
      addOwnPostgres(context, datastore, {
        ...names,
        hasCluster: spare !== undefined,
        ...(spare && { adminPassword: context.sealer.open(spare.adminPasswordSealed, sparePurpose(spare.volumeId)) }),
        parameterOverrides: parameterOverrides ?? {},
        connectionPool: body.connectionPool ?? 'none',
        isAutoscaling: body.enableDiskAutoscaling ?? false,
        isHighlyAvailable: body.enableHighAvailability ?? false,
      })
      if (body.enableHighAvailability === true) setStandby(context, actor, { primary: datastore, isWanted: true })
      if (body.readReplicas != null) setReplicas(context, actor, { primary: datastore, wanted: body.readReplicas })
      context.work.poke('datastore', datastore.id)
      return datastore
    }),
  )
}

function spareFor(context: AppContext, { version, sizeGb }: Pick<StoredDatastore, 'version' | 'sizeGb'>): StoredSpare | undefined {
  const [{ name: volumeKind }] = context.engine.volumes.capabilities.kinds
  return takeSpare(context.db, { volumeKind, version, program: programsOf(context, version).name, largestGb: sizeGb })
}

const adopted = ({ number, volumeId, volumeKind, sizeGb: has }: StoredSpare, sizeGb: number) => ({
  ...{ number, volumeId, volumeKind, sizeGb: has },
  ...(has < sizeGb && { growToGb: sizeGb }),
})

export type NewPostgres = Pick<StoredPostgres, 'databaseName' | 'databaseUser' | 'parameterOverrides'> &
  Partial<Pick<StoredPostgres, 'connectionPool' | 'isAutoscaling' | 'isHighlyAvailable' | 'hasCluster'>> & { adminPassword?: string }

/** The half of its row that other kinds do not have, with passwords of its own. */
export function addOwnPostgres({ db, sealer }: AppContext, { id, createdAt }: StoredDatastore, given: NewPostgres): void {
  const { adminPassword = newPassword(), ...own } = given
  insertPostgres(db, {
    ...({ connectionPool: 'none', isAutoscaling: false, isHighlyAvailable: false, hasCluster: true } as const),
    ...own,
    id,
    adminPasswordSealed: sealer.seal(adminPassword, passwordPurpose(id, 'admin')),
    backupPasswordSealed: sealer.seal(newPassword(), passwordPurpose(id, 'backup')),
  })
  insertCredential(db, sealer, { datastoreId: id, userName: own.databaseUser, password: newPassword(), createdAt })
}
