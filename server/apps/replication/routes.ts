import { answer, type Handlers } from '../../http/handlers/call.ts'
import type { AppContext } from '../context.ts'
import { requireDatastore } from '../datastores/require.ts'
import { requestFailover } from './high-availability.ts'

export const replicationRoutes: Handlers<'failoverPostgres', AppContext> = {
  failoverPostgres({ actor, params }, context) {
    requestFailover(context, requireDatastore(context, actor, params.postgresId, 'postgres'))
    return answer(202, undefined)
  },
}
