import type { KeyValueRecoveryBody } from '../../../../shared/backup.ts'
import type { backupOperations } from '../../../../shared/operations/backups.ts'
import type { redisBackupOperations } from '../../../../shared/operations/redis.ts'
import { idPageOf, pageOf } from '../../../http/answers/page.ts'
import type { Actor, Handlers } from '../../../http/handlers/call.ts'
import type { AppContext } from '../../context.ts'
import { requireDatastore } from '../../datastores/require.ts'
import type { DatastoreKind } from '../../datastores/store.ts'
import { presentKeyValue } from '../../key-value/present.ts'
import { presentPostgres } from '../../postgres/present.ts'
import { pageOfBackups } from '../rows/backup-store.ts'
import { backupSetOf } from '../rows/set-store.ts'
import { recoverPostgres, requestManualBackup, requireBackups } from './operations.ts'
import { presentBackup, presentRecovery } from './present.ts'
import { recoverStore } from './recover-store.ts'

type Query = Parameters<typeof idPageOf>[0]

interface Which {
  id: string
  kind: DatastoreKind
}

const postgres = ({ postgresId: id }: { postgresId: string }): Which => ({ id, kind: 'postgres' })
const keyValue = ({ keyValueId: id }: { keyValueId: string }): Which => ({ id, kind: 'key_value' })

const create = (context: AppContext, actor: Actor, { id, kind }: Which) =>
  presentBackup(requestManualBackup(context, requireDatastore(context, actor, id, kind)), backupSetOf(context.db, id))

interface OfStore {
  actor: Actor
  params: { keyValueId: string }
}

const ofStores = {
  list: ({ actor, params, query }: OfStore & { query: Query }, context: AppContext) => list(context, actor, { ...keyValue(params), query }),
  create: ({ actor, params }: OfStore, context: AppContext) => create(context, actor, keyValue(params)),
  recover({ actor, params, body = {} }: OfStore & { body: KeyValueRecoveryBody | undefined }, context: AppContext) {
    const set = requireBackups(context, actor, keyValue(params))
    return presentKeyValue(context, recoverStore(context, actor, { set, body }))
  },
}

export const backupRoutes: Handlers<keyof typeof backupOperations, AppContext> = {
  listPostgresBackups: ({ actor, params, query }, context) => list(context, actor, { ...postgres(params), query }),
  createPostgresBackup: ({ actor, params }, context) => create(context, actor, postgres(params)),
  getPostgresRecovery: ({ actor, params }, context) => presentRecovery(context, requireBackups(context, actor, postgres(params))),
  startPostgresRecovery({ actor, params, body }, context) {
    const set = requireBackups(context, actor, postgres(params))
    return presentPostgres(context, recoverPostgres(context, actor, { set, body }))
  },
  listKeyValueBackups: ofStores.list,
  createKeyValueBackup: ofStores.create,
  startKeyValueRecovery: ofStores.recover,
}

/** The old name of them, under which clients of Render's API know them as well. */
export const redisBackupRoutes: Handlers<keyof typeof redisBackupOperations, AppContext> = {
  listRedisBackups: ofStores.list,
  createRedisBackup: ofStores.create,
  startRedisRecovery: ofStores.recover,
}

function list(context: AppContext, actor: Actor, { query, ...which }: Which & { query: Query }) {
  const set = requireBackups(context, actor, which)
  const page = pageOfBackups(context.db, which.id, idPageOf(query))
  return pageOf(
    'backup',
    page.map((backup) => presentBackup(backup, set)),
    ({ id }) => [id],
  )
}
