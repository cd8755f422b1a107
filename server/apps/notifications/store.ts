import type { Database } from 'bun:sqlite'
import type { NotificationOverrides, NotificationOverridesPatch } from '../../../shared/notification.ts'

/** The overrides of a service; each is `default` where none was set. */
export function overridesOf(db: Database, serviceId: string): NotificationOverrides {
  const row = db
    .query<Omit<NotificationOverrides, 'serviceId'>, [string]>(
      `SELECT notifications_to_send AS notificationsToSend, preview_notifications_enabled AS previewNotificationsEnabled
       FROM notification_overrides WHERE service_id = ?`,
    )
    .get(serviceId)
  return { serviceId, notificationsToSend: 'default', previewNotificationsEnabled: 'default', ...row }
}

/** Changes what is named and nothing else. */
export function changeOverrides(db: Database, serviceId: string, change: NotificationOverridesPatch): NotificationOverrides {
  const next = { ...overridesOf(db, serviceId), ...change }
  db.query(
    `INSERT INTO notification_overrides VALUES ($serviceId, $notificationsToSend, $previewNotificationsEnabled)
     ON CONFLICT DO UPDATE SET notifications_to_send = excluded.notifications_to_send,
     preview_notifications_enabled = excluded.preview_notifications_enabled`,
  ).run(next)
  return next
}
