import type { EventType } from '../../../shared/event.ts'
import type { AppContext } from '../context.ts'
import { recordEvent } from '../events/store.ts'
import type { StoredDisk } from './store.ts'

type DiskEvent = Extract<EventType, `disk_${string}`>

export function recordDiskEvent(
  { db, now }: Pick<AppContext, 'db' | 'now'>,
  { id, name, serviceId, workspaceId }: StoredDisk,
  type: DiskEvent,
  details: Record<string, unknown> = {},
): void {
  recordEvent(db, { owner: { id: serviceId, workspaceId }, type, details: { diskId: id, name, ...details }, now: now() })
}
