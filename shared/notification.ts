import { type Static, Type } from '@sinclair/typebox'
import { Id } from './id.ts'
import { OneOf, StrictObject } from './schema.ts'

const toSend = ['default', 'none', 'failure', 'all'] as const
const ofPreviews = ['default', 'false', 'true'] as const

/** Where a service differs from its workspace in what people are told of it. */
export const NotificationOverrides = Type.Object(
  { serviceId: Id('service'), notificationsToSend: OneOf(toSend), previewNotificationsEnabled: OneOf(ofPreviews) },
  { $id: 'NotificationOverrides' },
)
export type NotificationOverrides = Static<typeof NotificationOverrides>

export const NotificationOverridesPatch = StrictObject(
  { notificationsToSend: Type.Optional(OneOf(toSend)), previewNotificationsEnabled: Type.Optional(OneOf(ofPreviews)) },
  { examples: [{ notificationsToSend: 'failure' }] },
)
export type NotificationOverridesPatch = Static<typeof NotificationOverridesPatch>
