import { answer, type Handlers } from '../../../http/handlers/call.ts'
import { inOneChange } from '../../../platform/db/change.ts'
import type { AppContext } from '../../context.ts'
import { requireDatastore } from '../../datastores/require.ts'
import { isDeployed } from '../../env-groups/deploy-right.ts'
import { touchedByDatastore } from '../../env-groups/referring.ts'
import { addUser, takeUser } from './operations.ts'
import { presentNewUser, presentUsers } from './present.ts'

type CredentialIds = 'listPostgresCredentials' | 'createPostgresCredential' | 'deletePostgresCredential'

export const postgresCredentialRoutes: Handlers<CredentialIds, AppContext> = {
  listPostgresCredentials: ({ actor, params }, context) =>
    presentUsers(context, requireDatastore(context, actor, params.postgresId, 'postgres')),
  async createPostgresCredential({ actor, params, query, body, change, note }, context) {
    const deploys = { isDeployed: isDeployed(actor, query) }
    const datastore = requireDatastore(context, actor, params.postgresId, 'postgres')
    const name = await addUser(context, datastore, {
      body,
      change: (apply) =>
        change(() => {
          note({ target: datastore.id })
          return apply()
        }),
    })
    const touched = inOneChange(context.db, () => touchedByDatastore(context, datastore, deploys))
    return answer(201, { ...presentNewUser(context, datastore, name), touched })
  },
  async deletePostgresCredential({ actor, params, change }, context) {
    const datastore = requireDatastore(context, actor, params.postgresId, 'postgres')
    await takeUser(context, datastore, { name: params.username, change })
    return answer(204, undefined)
  },
}
