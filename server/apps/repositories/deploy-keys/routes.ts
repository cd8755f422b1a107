import type { Handlers } from '../../../http/handlers/call.ts'
import type { AppContext } from '../../context.ts'
import { requireService } from '../../services/require.ts'
import { rotateDeployKey, showDeployKey } from './operations.ts'
import { removeHostKeys } from './store.ts'

export const deployKeyRoutes: Handlers<'getDeployKey' | 'rotateDeployKey' | 'forgetHostKeys', AppContext> = {
  getDeployKey: ({ actor, params }, context) => showDeployKey(context, requireService(context, actor, params.serviceId).id),
  rotateDeployKey: ({ actor, params }, context) => rotateDeployKey(context, requireService(context, actor, params.serviceId).id),
  forgetHostKeys({ actor, params }, context) {
    removeHostKeys(context.db, requireService(context, actor, params.serviceId).id)
  },
}
