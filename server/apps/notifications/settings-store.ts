import type { Database } from 'bun:sqlite'
import type { NotificationLevel } from '../../../shared/notification.ts'
import { flag } from '../../platform/db/codec.ts'
import { tableOf } from '../../platform/db/table.ts'

/** What people of a workspace are told, and where. URLs are sealed. */
export interface StoredSettings {
  workspaceId: string
  toSend: NotificationLevel
  isEmailEnabled: boolean
  arePreviewsEnabled: boolean
  slackUrlSealed: string | null
  discordUrlSealed: string | null
}

const settings = tableOf<StoredSettings>('notification_settings', {
  workspaceId: 'workspace_id',
  toSend: { column: 'to_send', as: { read: (stored) => String(stored) as NotificationLevel, write: (level) => level } },
  isEmailEnabled: { column: 'is_email_enabled', as: flag },
  arePreviewsEnabled: { column: 'are_previews_enabled', as: flag },
  slackUrlSealed: 'slack_url_sealed',
  discordUrlSealed: 'discord_url_sealed',
})

const byDefault = {
  toSend: 'failure',
  isEmailEnabled: true,
  arePreviewsEnabled: false,
  slackUrlSealed: null,
  discordUrlSealed: null,
} as const

/** The settings of a workspace, as they are by default where nobody has set any. */
export const settingsOf = (db: Database, workspaceId: string): StoredSettings =>
  settings.get(db, 'WHERE workspace_id = $workspaceId', { workspaceId }) ?? { workspaceId, ...byDefault }

/** Sets all settings of a workspace. */
export const putSettings = (db: Database, value: StoredSettings): void => settings.put(db, value)

/** Whether a user wants no mail of a workspace. */
export const isRefused = (db: Database, userId: string, workspaceId: string): boolean =>
  db.query('SELECT 1 FROM notification_refusals WHERE user_id = ? AND workspace_id = ?').get(userId, workspaceId) !== null

/** Notes whether a user wants mail of a workspace. */
export function setRefused(db: Database, { userId, workspaceId }: { userId: string; workspaceId: string }, isRefusing: boolean): void {
  const rest = isRefusing
    ? 'INSERT OR IGNORE INTO notification_refusals (user_id, workspace_id) VALUES (?, ?)'
    : 'DELETE FROM notification_refusals WHERE user_id = ? AND workspace_id = ?'
  db.query(rest).run(userId, workspaceId)
}
