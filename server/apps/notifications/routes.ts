import type { Operations } from '../../../shared/operations/all.ts'
import { answer, type Handlers } from '../../http/handlers/call.ts'
import { findMembership } from '../../identity/memberships/store.ts'
import type { AppContext } from '../context.ts'
import { requireService } from '../services/require.ts'
import { changeOverrides, overridesOf } from './overrides-store.ts'
import { changeSettings, presentSettings } from './settings.ts'
import { isRefused, setRefused, settingsOf } from './settings-store.ts'
import { testChannels } from './test-channels.ts'
import { subscriptionOf } from './unsubscribe.ts'

type NotificationIds = Extract<keyof Operations, `${string}Notification${string}` | `${string}nsubscribe`>

export const notificationRoutes: Handlers<NotificationIds, AppContext> = {
  getNotificationOverrides: ({ actor, params }, { db }) => overridesOf(db, requireService({ db }, actor, params.serviceId).id),
  updateNotificationOverrides: ({ actor, params, body }, { db }) =>
    changeOverrides(db, requireService({ db }, actor, params.serviceId).id, body),
  getNotificationSettings: ({ actor }, context) => presentSettings(context, settingsOf(context.db, actor.workspaceId)),
  updateNotificationSettings: ({ actor, body }, context) => presentSettings(context, changeSettings(context, actor.workspaceId, body)),
  async testNotifications({ actor, change }, context) {
    const tested = await testChannels(context, actor)
    return change(() => tested)
  },
  getOwnNotifications: ({ actor }, { db }) => ownOf(db, { userId: actor.id, workspaceId: actor.workspaceId }),
  updateOwnNotifications({ actor, body }, { db }) {
    const own = { userId: actor.id, workspaceId: actor.workspaceId }
    setRefused(db, own, !body.emailEnabled)
    return ownOf(db, own)
  },
  unsubscribe({ params, note }, { db, sealer }) {
    const subscription = subscriptionOf(sealer, params.token)
    const isMember = findMembership(db, subscription.userId, subscription.workspaceId) !== undefined
    if (isMember) setRefused(db, subscription, true)
    note(isMember ? { workspaceIds: [subscription.workspaceId], target: subscription.userId } : { isUnchanged: true })
  },
  openUnsubscribe({ params }, { publicUrl, sealer }) {
    subscriptionOf(sealer, params.token)
    return answer(303, undefined, { Location: `${publicUrl}/unsubscribe?token=${encodeURIComponent(params.token)}` })
  },
}

const ownOf = (db: AppContext['db'], { userId, workspaceId }: { userId: string; workspaceId: string }) => ({
  ownerId: workspaceId,
  emailEnabled: !isRefused(db, userId, workspaceId),
})
