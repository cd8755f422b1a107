import type { Database } from 'bun:sqlite'
import { Type } from '@sinclair/typebox'
import type { NotificationChannel } from '../../../shared/notification.ts'
import { json } from '../../platform/db/json-column.ts'
import { tableOf } from '../../platform/db/table.ts'

export interface StoredMessage {
  id: number
  workspaceId: string
  channel: NotificationChannel
  userId: string | null
  subject: string
  text: string
  /** Ids of the services and datastores that it is about, and null where it is about the workspace. */
  about: (string | null)[]
  attempts: number
  nextAttemptAt: number
}

const messages = tableOf<StoredMessage>('notification_messages', {
  id: 'id',
  workspaceId: 'workspace_id',
  channel: { column: 'channel', as: { read: (stored) => String(stored) as NotificationChannel, write: (channel) => channel } },
  userId: 'user_id',
  subject: 'subject',
  text: 'text',
  about: { column: 'about', as: json({ schema: Type.Array(Type.Union([Type.String(), Type.Null()])) }) },
  attempts: 'attempts',
  nextAttemptAt: 'next_attempt_at',
})

/** Has a message sent. */
export const insertMessage = (db: Database, message: Omit<StoredMessage, 'id' | 'attempts'>): void => void messages.insert(db, message)

/** Messages of a workspace that are due (ms since 1970), oldest first. */
export const messagesDue = (db: Database, workspaceId: string, now: number): StoredMessage[] =>
  messages.all(db, 'WHERE workspace_id = $workspaceId AND next_attempt_at <= $now ORDER BY id LIMIT 100', { workspaceId, now })

/** Forgets a message that was taken, or given up. */
export const dropMessage = (db: Database, id: number): void => void messages.remove(db, { id })

/** Has a message tried again at a time. */
export const postponeMessage = (db: Database, id: number, change: Pick<StoredMessage, 'attempts' | 'nextAttemptAt'>): void =>
  void messages.update(db, { id }, change)

/** When the next message of a workspace is due (ms since 1970); undefined where there is none. */
export const nextMessageAt = (db: Database, workspaceId: string): number | undefined =>
  db
    .query<{ at: number | null }, [string]>('SELECT min(next_attempt_at) AS at FROM notification_messages WHERE workspace_id = ?')
    .get(workspaceId)?.at ?? undefined
