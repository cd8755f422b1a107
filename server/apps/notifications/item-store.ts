import type { Database } from 'bun:sqlite'
import { tableOf } from '../../platform/db/table.ts'
import type { ItemKind } from './plan.ts'

/** Something that is to be told. Times are milliseconds since 1970. */
export interface StoredItem {
  id: number
  workspaceId: string
  serviceId: string | null
  serviceName: string | null
  kind: ItemKind
  title: string
  reason: string | null
  logInstance: string | null
  deployId: string | null
  happenedAt: number
  createdAt: number
}

const items = tableOf<StoredItem>('notification_items', {
  id: 'id',
  workspaceId: 'workspace_id',
  serviceId: 'service_id',
  serviceName: 'service_name',
  kind: { column: 'kind', as: { read: (stored) => String(stored) as ItemKind, write: (kind) => kind } },
  title: 'title',
  reason: 'reason',
  logInstance: 'log_instance',
  deployId: 'deploy_id',
  happenedAt: 'happened_at',
  createdAt: 'created_at',
})

/** Has something told with the next message. */
export const insertItem = (db: Database, item: Omit<StoredItem, 'id'>): void => void items.insert(db, item)

/** What is to be told in a workspace, oldest first. */
export const itemsOf = (db: Database, workspaceId: string): StoredItem[] =>
  items.all(db, 'WHERE workspace_id = $workspaceId ORDER BY id', { workspaceId })

/** Forgets what is in a message now: all up to this id. */
export const dropItems = (db: Database, workspaceId: string, upToId: number): void =>
  void db.query('DELETE FROM notification_items WHERE workspace_id = ? AND id <= ?').run(workspaceId, upToId)

/** Workspaces in which something is to be told, is on its way, or is about to count as over. */
export const workspacesToTell = (db: Database): string[] =>
  db
    .query<{ id: string }, []>(
      `SELECT workspace_id AS id FROM notification_items UNION SELECT workspace_id FROM notification_messages
       UNION SELECT workspace_id FROM notification_problems WHERE over_at IS NOT NULL`,
    )
    .all()
    .map(({ id }) => id)
