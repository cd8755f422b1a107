import type { DatastoreEventType } from '../../../../shared/event.ts'
import type { AppContext } from '../../context.ts'
import { recordEvent } from '../../events/store.ts'

export function recordBackupEvent(
  { db, now }: Pick<AppContext, 'db' | 'now'>,
  { datastoreId, workspaceId, name }: { datastoreId: string; workspaceId: string; name: string },
  type: DatastoreEventType,
  details: Record<string, unknown>,
): void {
  recordEvent(db, { owner: { id: datastoreId, workspaceId }, type, details: { name, ...details }, now: now() })
}
