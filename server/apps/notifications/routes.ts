import type { Handlers } from '../../http/handlers/call.ts'
import type { AppContext } from '../context.ts'
import { requireService } from '../services/require.ts'
import { changeOverrides, overridesOf } from './store.ts'

export const notificationRoutes: Handlers<'getNotificationOverrides' | 'updateNotificationOverrides', AppContext> = {
  getNotificationOverrides: ({ actor, params }, { db }) => overridesOf(db, requireService({ db }, actor, params.serviceId).id),
  updateNotificationOverrides: ({ actor, params, body }, { db }) =>
    changeOverrides(db, requireService({ db }, actor, params.serviceId).id, body),
}
