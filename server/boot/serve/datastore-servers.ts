import type { DatastoreServers } from '../../apps/datastores/kind.ts'
import { keyValueServer } from '../../apps/key-value/server.ts'
import { alignUsersQuietly } from '../../apps/postgres/credentials/align.ts'
import { postgresServer } from '../../apps/postgres/server.ts'
import type { Context } from './context.ts'

export const datastoreServers = (context: Context): DatastoreServers => ({
  postgres: {
    ...postgresServer(context, { onStarted: (place) => alignUsersQuietly(context, place) }),
    beforeRemoval: ({ id }) => context.work.keepLastBackup(id),
  },
  key_value: keyValueServer(context),
})
