import { Type } from '@sinclair/typebox'
import { NotificationOverrides, NotificationOverridesPatch } from '../notification.ts'
import { defineOperations } from '../operation.ts'

const overrides = {
  path: '/v1/notification-settings/overrides/services/:serviceId',
  tag: 'Notifications',
  params: Type.Object({ serviceId: Type.String({ description: 'Id of the service' }) }),
  responses: { 200: NotificationOverrides },
  errors: ['not_found'],
} as const

/** What people are told of a service. It is kept and told again; there is nothing yet that tells people. */
export const notificationOperations = defineOperations({
  getNotificationOverrides: {
    ...overrides,
    method: 'GET',
    access: 'services.read',
    summary: 'Where a service differs in what people are told of it',
  },
  updateNotificationOverrides: {
    ...overrides,
    method: 'PATCH',
    access: 'services.update',
    summary: 'Change where a service differs in what people are told of it',
    description: 'Kept for when there are notifications: nobody is told anything yet.',
    body: NotificationOverridesPatch,
  },
})
