import type { DatastoreServer, DatastoreServers } from '../../apps/datastores/kind.ts'
import { keyValueServer } from '../../apps/key-value/server.ts'
import { alignUsersQuietly } from '../../apps/postgres/credentials/align.ts'
import { postgresFigures } from '../../apps/postgres/insight/figures.ts'
import { postgresServer } from '../../apps/postgres/server.ts'
import { endUpgradeRuns } from '../../apps/postgres/upgrade/run.ts'
import { prepareUpgrade, stepUpgrade } from '../../apps/postgres/upgrade/steps.ts'
import { hasAllOfPrimary } from '../../apps/replication/handed-over.ts'
import { failOverIfBroken } from '../../apps/replication/high-availability.ts'
import { forgetFollower, mayFollow, tendReplication } from '../../apps/replication/tend.ts'
import { describeError } from '../../platform/server-log.ts'
import type { Context } from './context.ts'

export function datastoreServers(context: Context): DatastoreServers {
  const postgres = postgresServer(context, hooksOf(context))
  return {
    postgres: {
      ...postgres,
      ...replicated(context),
      figures: postgresFigures(context),
      prepareUpgrade: (datastore) => prepareUpgrade(context, datastore, () => context.work.untilLogReceived(datastore.id)),
      stepUpgrade: (datastore) => stepUpgrade(context, datastore),
      async beforeRemoval(datastore) {
        await postgres.beforeRemoval?.(datastore)
        await endUpgradeRuns(context, datastore.volumeId)
        if (datastore.primaryId === null) return await context.work.keepLastBackup(datastore.id)
        await forgetFollower(context, datastore)
        await context.work.ways.remove(datastore)
      },
    },
    key_value: {
      ...keyValueServer(context),
      beforeRemoval: ({ id }) => context.work.keepLastBackup(id),
    },
  }
}

const hooksOf = (context: Context): Parameters<typeof postgresServer>[1] => ({
  onStarted: (place) => alignUsersQuietly(context, place),
  leadToPrimary: (datastore) => context.work.ways.open(datastore),
})

const replicated = (context: Context): Pick<DatastoreServer, 'mayRun' | 'tend' | 'onLook' | 'hasAllOfPrimary'> => ({
  hasAllOfPrimary: (follower, endpoint) =>
    hasAllOfPrimary(context, follower, endpoint).catch((error) => {
      context.log.error('standby does not say what it has', { datastoreId: follower.id, ...describeError(error) })
      return false
    }),
  onLook: (id) => failOverIfBroken(context, id),
  mayRun: async (datastore) => datastore.primaryId === null || (await mayFollow(context, datastore)),
  tend: (datastore, endpoint) => tendReplication(context, { datastore, endpoint }),
})
