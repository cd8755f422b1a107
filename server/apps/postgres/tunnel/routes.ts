import { AppError } from '../../../../shared/error.ts'
import type { Handlers } from '../../../http/handlers/call.ts'
import { isRefusedNow, type Viewer } from '../../../identity/scopes/protection.ts'
import { isWithin } from '../../../identity/scopes/scope.ts'
import { openByteStream } from '../../../platform/network/byte-stream.ts'
import type { AppContext } from '../../context.ts'
import { requireDatastore } from '../../datastores/require.ts'
import { findDatastore, type StoredDatastore } from '../../datastores/store.ts'
import { requireEndpoint } from '../session.ts'
import { serveTunnel } from './serve.ts'

const MOST_OPEN = 40

export function createPostgresTunnelRoutes(context: AppContext): Handlers<'openPostgresTunnel', AppContext> {
  const open = new Map<string, number>()
  const count = (id: string, step: 1 | -1) => {
    const left = (open.get(id) ?? 0) + step
    if (left === 0) open.delete(id)
    else open.set(id, left)
  }
  return {
    openPostgresTunnel({ actor, params, upgrade, requireRight }) {
      const datastore = requireDatastore(context, actor, params.postgresId, 'postgres')
      const endpoint = requireEndpoint(context, datastore)
      const { id, name } = datastore
      if ((open.get(id) ?? 0) >= MOST_OPEN)
        throw new AppError('conflict', `${MOST_OPEN} connections to ${name} are open through tunnels. End one of them first.`)
      let leave = () => {
        leave = () => {}
        count(id, -1)
      }
      count(id, 1)
      try {
        upgrade(
          serveTunnel({
            open: (on) => openByteStream(endpoint, on),
            endReason: () => endReasonOf(context, requireRight(), datastore),
            onEnd: () => leave(),
          }),
        )
      } catch (error) {
        leave()
        throw error
      }
    },
  }
}

function endReasonOf({ db }: AppContext, viewer: Viewer, { id, workspaceId }: StoredDatastore): string | undefined {
  const datastore = findDatastore(db, workspaceId, id)
  if (datastore === undefined) return 'The database was deleted'
  if (datastore.suspendedBy !== null) return 'The database was suspended'
  if (!isWithin(viewer.scope, datastore)) return 'The database was moved out of what you may touch'
  return isRefusedNow(db, viewer, datastore.environmentId) ? 'The database is in a protected environment now' : undefined
}
