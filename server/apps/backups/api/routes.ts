import { idPageOf, pageOf } from '../../../http/answers/page.ts'
import type { Handlers } from '../../../http/handlers/call.ts'
import type { AppContext } from '../../context.ts'
import { requireDatastore } from '../../datastores/require.ts'
import { presentPostgres } from '../../postgres/present.ts'
import { pageOfBackups } from '../rows/backup-store.ts'
import { recoverPostgres, requestManualBackup, requireBackups } from './operations.ts'
import { presentBackup, presentRecovery } from './present.ts'

type BackupIds = 'listPostgresBackups' | 'createPostgresBackup' | 'getPostgresRecovery' | 'startPostgresRecovery'

export const backupRoutes: Handlers<BackupIds, AppContext> = {
  listPostgresBackups({ actor, params, query }, context) {
    requireBackups(context, actor, params.postgresId)
    const found = pageOfBackups(context.db, params.postgresId, idPageOf(query))
    return pageOf('backup', found.map(presentBackup), ({ id }) => [id])
  },
  createPostgresBackup: ({ actor, params }, context) =>
    presentBackup(requestManualBackup(context, requireDatastore(context, actor, params.postgresId, 'postgres'))),
  getPostgresRecovery: ({ actor, params }, context) => presentRecovery(context, requireBackups(context, actor, params.postgresId)),
  startPostgresRecovery({ actor, params, body }, context) {
    const set = requireBackups(context, actor, params.postgresId)
    return presentPostgres(context, recoverPostgres(context, actor, { set, body }))
  },
}
