import type { Database } from 'bun:sqlite'
import type { NotificationOverrides, NotificationOverridesPatch } from '../../../shared/notification.ts'
import { tableOf } from '../../platform/db/table.ts'

const overrides = tableOf<NotificationOverrides>('notification_overrides', {
  serviceId: 'service_id',
  notificationsToSend: 'notifications_to_send',
  previewNotificationsEnabled: 'preview_notifications_enabled',
})

/** The overrides of a service; each is `default` where none was set. */
export const overridesOf = (db: Database, serviceId: string): NotificationOverrides =>
  overrides.get(db, 'WHERE service_id = $serviceId', { serviceId }) ?? {
    serviceId,
    notificationsToSend: 'default',
    previewNotificationsEnabled: 'default',
  }

/** Changes what is named. Returns the overrides as they are then. */
export function changeOverrides(db: Database, serviceId: string, change: NotificationOverridesPatch): NotificationOverrides {
  const next = { ...overridesOf(db, serviceId), ...change }
  overrides.put(db, next)
  return next
}
