import type { Database } from 'bun:sqlite'
import { flag } from '../../platform/db/codec.ts'
import { texts } from '../../platform/db/json-column.ts'
import { tableOf } from '../../platform/db/table.ts'
import type { Wanted } from './filter.ts'

/** A webhook as it is kept. Times are milliseconds since 1970. */
export interface StoredWebhook extends Wanted {
  id: string
  workspaceId: string
  name: string
  url: string
  isEnabled: boolean
  disabledReason: string | null
  secretSealed: string
  previousSecretSealed: string | null
  previousSecretUntil: number | null
  cursorSeq: number
  createdAt: number
  updatedAt: number
  deletedAt: number | null
}

const webhooks = tableOf<StoredWebhook>('webhooks', {
  id: 'id',
  workspaceId: 'workspace_id',
  name: 'name',
  url: 'url',
  isEnabled: { column: 'is_enabled', as: flag },
  disabledReason: 'disabled_reason',
  eventFilter: { column: 'event_filter', as: texts },
  serviceIds: { column: 'service_ids', as: texts },
  environmentIds: { column: 'environment_ids', as: texts },
  projectIds: { column: 'project_ids', as: texts },
  secretSealed: 'secret_sealed',
  previousSecretSealed: 'previous_secret_sealed',
  previousSecretUntil: 'previous_secret_until',
  cursorSeq: 'cursor_seq',
  createdAt: 'created_at',
  updatedAt: 'updated_at',
  deletedAt: 'deleted_at',
})

/** Adds a webhook. */
export const insertWebhook = (db: Database, webhook: StoredWebhook): void => void webhooks.insert(db, webhook)

/** A webhook of this workspace; undefined where it has none of this id. */
export const findWebhook = (db: Database, workspaceId: string, id: string): StoredWebhook | undefined =>
  webhooks.get(db, 'WHERE id = $id AND workspace_id = $workspaceId AND deleted_at IS NULL', { id, workspaceId })

/** A webhook to which events are to be sent: one that is enabled, in a workspace that stays. */
export const sendingWebhook = (db: Database, id: string): StoredWebhook | undefined =>
  webhooks.get(
    db,
    `WHERE id = $id AND is_enabled = 1 AND deleted_at IS NULL
     AND NOT EXISTS (SELECT 1 FROM workspaces w WHERE w.id = workspace_id AND w.deleted_at IS NOT NULL)`,
    { id },
  )

/** Webhooks of a workspace, newest first, those before `beforeId` when it is given. */
export const listWebhooks = (
  db: Database,
  workspaceId: string,
  { beforeId, limit }: { beforeId: string | undefined; limit: number },
): StoredWebhook[] =>
  webhooks.all(
    db,
    `WHERE workspace_id = $workspaceId AND deleted_at IS NULL AND ($beforeId IS NULL OR id < $beforeId) ORDER BY id DESC LIMIT $limit`,
    { workspaceId, beforeId: beforeId ?? null, limit },
  )

/** How many a workspace has. */
export const countWebhooks = (db: Database, workspaceId: string): number =>
  db
    .query<{ count: number }, [string]>('SELECT count(*) AS count FROM webhooks WHERE workspace_id = ? AND deleted_at IS NULL')
    .get(workspaceId)?.count ?? 0

/** Changes what is named. */
export const changeWebhook = (db: Database, id: string, change: Partial<StoredWebhook>): void => void webhooks.update(db, { id }, change)

export interface WebhookPlace {
  id: string
  workspaceId: string
}

/** Enabled webhooks: of one workspace, or of all. */
export const enabledWebhooks = (db: Database, workspaceId?: string): WebhookPlace[] =>
  db
    .query<WebhookPlace, [string | null, string | null]>(
      `SELECT id, workspace_id AS workspaceId FROM webhooks
       WHERE is_enabled = 1 AND deleted_at IS NULL AND (? IS NULL OR workspace_id = ?)`,
    )
    .all(workspaceId ?? null, workspaceId ?? null)

/** Ids of all webhooks, deleted ones last: what they sent is forgotten step by step. */
export const allWebhooks = (db: Database): { id: string; deletedAt: number | null }[] =>
  db.query<{ id: string; deletedAt: number | null }, []>('SELECT id, deleted_at AS deletedAt FROM webhooks ORDER BY deleted_at').all()

/** Marks webhooks as deleted, one or all of a workspace: nothing is sent from then on. Returns how many rows are still there. */
export function deleteWebhooks(db: Database, { workspaceId, id }: { workspaceId: string; id?: string }, now: number): number {
  const which = 'workspace_id = $workspaceId AND ($id IS NULL OR id = $id)'
  db.query(`UPDATE webhooks SET deleted_at = $now, is_enabled = 0 WHERE ${which} AND deleted_at IS NULL`).run({
    workspaceId,
    id: id ?? null,
    now,
  })
  const left = db.query<{ count: number }, [{ workspaceId: string; id: string | null }]>(
    `SELECT count(*) AS count FROM webhooks WHERE ${which}`,
  )
  return left.get({ workspaceId, id: id ?? null })?.count ?? 0
}

/** Ids of the deleted webhooks of a workspace of which something is left. */
export const deletedWebhooks = (db: Database, workspaceId: string): string[] =>
  db
    .query<{ id: string }, [string]>('SELECT id FROM webhooks WHERE workspace_id = ? AND deleted_at IS NOT NULL')
    .all(workspaceId)
    .map(({ id }) => id)

/** Removes the row of a webhook, of which nothing else is left. */
export const removeWebhook = (db: Database, id: string): void => void webhooks.remove(db, { id })
