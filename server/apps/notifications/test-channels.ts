import type { NotificationChannel, NotificationTest } from '../../../shared/notification.ts'
import type { Actor } from '../../http/handlers/call.ts'
import { findWorkspace } from '../../identity/memberships/store.ts'
import { type SendContext, sendMessage } from './send.ts'
import { settingsOf } from './settings-store.ts'

/** Sends a message to each channel there is, and tells how it went. Mail goes to the caller alone. */
export async function testChannels(context: SendContext, actor: Actor): Promise<NotificationTest> {
  const { workspaceId } = actor
  const name = findWorkspace(context.db, workspaceId)?.name ?? workspaceId
  const message = { workspaceId, subject: `${name}: a test`, text: 'Messages of this workspace come here. Nothing has happened.' }
  return await Promise.all(
    channelsOf(context, workspaceId).map(async (channel) => {
      const userId = actor.type === 'user' ? actor.id : null
      const error =
        channel === 'email' && userId === null
          ? 'A key has no address. Sign in as a person to try mail.'
          : await sendMessage(context, { ...message, channel, userId })
      return { channel, delivered: error === undefined, ...(error !== undefined && { error }) }
    }),
  )
}

function channelsOf({ db, mailer }: SendContext, workspaceId: string): NotificationChannel[] {
  const { isEmailEnabled, slackUrlSealed, discordUrlSealed } = settingsOf(db, workspaceId)
  const isThere: Record<NotificationChannel, boolean> = {
    email: isEmailEnabled && mailer.isConfigured,
    slack: slackUrlSealed !== null,
    discord: discordUrlSealed !== null,
  }
  return (Object.keys(isThere) as NotificationChannel[]).filter((channel) => isThere[channel])
}
