import type { Context } from '../../boot/serve/context.ts'
import type { Handlers } from '../../http/call.ts'
import { requireService } from '../services/require.ts'
import { changeOverrides, overridesOf } from './store.ts'

export const notificationRoutes: Handlers<'getNotificationOverrides' | 'updateNotificationOverrides', Context> = {
  getNotificationOverrides: ({ actor, params }, { db }) => overridesOf(db, requireService({ db }, actor, params.serviceId).id),
  updateNotificationOverrides: ({ actor, params, body }, { db }) =>
    changeOverrides(db, requireService({ db }, actor, params.serviceId).id, body),
}
