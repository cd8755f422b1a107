import type { Operations } from '../../../shared/operations/all.ts'
import { idPageOf, pageOf } from '../../http/answers/page.ts'
import { answer, type Handlers } from '../../http/handlers/call.ts'
import type { Viewer } from '../../identity/scopes/protection.ts'
import type { AppContext } from '../context.ts'
import { deleteDatastore, restartDatastore, resumeDatastore, suspendDatastore } from '../datastores/operations.ts'
import { requireDatastore } from '../datastores/require.ts'
import { listDatastores, type StoredDatastore } from '../datastores/store.ts'
import { changePostgres } from './change.ts'
import { connectionInfo } from './connection-info.ts'
import { createPostgres } from './create.ts'
import { presentPostgres } from './present.ts'
import { confirmUpgrade, requestReturn, requireRoomToReturn, requireUpgradeRoom } from './upgrade-request.ts'

type PostgresIds = Exclude<Extract<keyof Operations, `${string}Postgres`>, 'failoverPostgres'> | 'getPostgresConnectionInfo'

export const postgresRoutes: Handlers<PostgresIds, AppContext> = {
  listPostgres({ actor, query }, context) {
    const found = listDatastores(context.db, actor, { ...query, ...idPageOf(query), kind: 'postgres' })
    return pageOf(
      'postgres',
      found.map((datastore) => presentPostgres(context, datastore)),
      ({ id }) => [id],
    )
  },
  createPostgres: ({ actor, body }, context) => presentPostgres(context, createPostgres(context, actor, body)),
  getPostgres: ({ actor, params }, context) => presentPostgres(context, found(context, actor, params)),
  async updatePostgres({ actor, params, body, change }, context) {
    if (body.version !== undefined) await requireUpgradeRoom(context, found(context, actor, params), body.version)
    return change(() => {
      const datastore = found(context, actor, params)
      return presentPostgres(context, changePostgres(context, actor, { datastore, patch: body }))
    })
  },
  deletePostgres({ actor, params, query }, context) {
    deleteDatastore(context, found(context, actor, params), { isForced: query.force === true })
    return answer(204, undefined)
  },
  suspendPostgres({ actor, params }, context) {
    suspendDatastore(context, found(context, actor, params))
    return answer(202, undefined)
  },
  resumePostgres({ actor, params }, context) {
    resumeDatastore(context, found(context, actor, params))
    return answer(202, undefined)
  },
  restartPostgres({ actor, params }, context) {
    restartDatastore(context, found(context, actor, params))
    return answer(202, undefined)
  },
  async rollBackPostgres({ actor, params, change }, context) {
    await requireRoomToReturn(context, found(context, actor, params))
    return change(() => {
      requestReturn(context, found(context, actor, params))
      return answer(202, undefined)
    })
  },
  confirmUpgradedPostgres({ actor, params }, context) {
    confirmUpgrade(context, found(context, actor, params))
    return answer(202, undefined)
  },
  getPostgresConnectionInfo: ({ actor, params }, context) => connectionInfo(context, found(context, actor, params)),
}

const found = (context: AppContext, actor: Viewer, { postgresId }: { postgresId: string }): StoredDatastore =>
  requireDatastore(context, actor, postgresId, 'postgres')
