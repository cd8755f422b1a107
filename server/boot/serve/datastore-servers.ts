import type { DatastoreServers } from '../../apps/datastores/kind.ts'
import { keyValueServer } from '../../apps/key-value/server.ts'
import { alignUsersQuietly } from '../../apps/postgres/credentials/align.ts'
import { postgresServer } from '../../apps/postgres/server.ts'
import type { Context } from './context.ts'

export function datastoreServers(context: Context): DatastoreServers {
  const postgres = postgresServer(context, { onStarted: (place) => alignUsersQuietly(context, place) })
  return {
    postgres: {
      ...postgres,
      async beforeRemoval(datastore) {
        await postgres.beforeRemoval?.(datastore)
        await context.work.keepLastBackup(datastore.id)
      },
    },
    key_value: keyValueServer(context),
  }
}
