import type { EventType } from '../../../shared/event.ts'
import type { AppContext } from '../context.ts'
import { recordEvent } from '../events/store.ts'
import { serviceById } from '../services/store.ts'
import type { StoredDisk } from './store.ts'

type DiskEvent = Extract<EventType, `disk_${string}`>

export function recordDiskEvent(
  { db, now }: Pick<AppContext, 'db' | 'now'>,
  { id, name, serviceId }: StoredDisk,
  type: DiskEvent,
  details: Record<string, unknown> = {},
): void {
  const service = serviceById(db, serviceId)
  if (service === undefined || service.deletedAt !== null) return
  recordEvent(db, { owner: service, type, details: { diskId: id, name, ...details }, now: now() })
}
