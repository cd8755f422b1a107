import { type Static, Type } from '@sinclair/typebox'
import { Id } from './id.ts'
import { OneOf, StrictObject } from './schema.ts'

export const notificationLevels = ['none', 'failure', 'all'] as const
const toSend = ['default', ...notificationLevels] as const
const ofPreviews = ['default', 'false', 'true'] as const

/** What is told: nothing, what fails and that it is over, or every release that goes live as well. */
export type NotificationLevel = (typeof notificationLevels)[number]

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

const shownUrl = (channel: string) =>
  Type.Optional(
    Type.String({
      description: `Where messages for ${channel} go, without its secret part`,
      examples: ['https://hooks.example.com/…k3Fa'],
    }),
  )

export const NotificationSettings = Type.Object(
  {
    ownerId: Id('workspace'),
    notificationsToSend: OneOf(notificationLevels),
    emailEnabled: Type.Boolean({ description: 'Whether members get mail, each as long as they want it' }),
    previewNotificationsEnabled: Type.Boolean(),
    slackEnabled: Type.Boolean(),
    slackUrl: shownUrl('Slack'),
    discordEnabled: Type.Boolean(),
    discordUrl: shownUrl('Discord'),
    isMailConfigured: Type.Boolean({ description: 'Whether this server can send mail at all' }),
  },
  { $id: 'NotificationSettings' },
)
export type NotificationSettings = Static<typeof NotificationSettings>

const UrlInput = (description: string) =>
  Type.Optional(
    Type.Union([Type.String({ maxLength: 2048, 'x-secret': true }), Type.Null()], {
      description,
      'x-secret': true,
      examples: ['https://hooks.slack.com/services/T0/B0/secret'],
    }),
  )

export const NotificationSettingsPatch = StrictObject(
  {
    notificationsToSend: Type.Optional(OneOf(notificationLevels)),
    emailEnabled: Type.Optional(Type.Boolean()),
    previewNotificationsEnabled: Type.Optional(Type.Boolean()),
    slackUrl: UrlInput('Incoming webhook of Slack, or of what takes the same; null removes it'),
    discordUrl: UrlInput('Webhook of Discord, or of what takes the same; null removes it'),
  },
  { examples: [{ notificationsToSend: 'failure', emailEnabled: true }] },
)
export type NotificationSettingsPatch = Static<typeof NotificationSettingsPatch>

export const notificationChannels = ['email', 'slack', 'discord'] as const
export type NotificationChannel = (typeof notificationChannels)[number]

export const NotificationTest = Type.Array(
  Type.Object({ channel: OneOf(notificationChannels), delivered: Type.Boolean(), error: Type.Optional(Type.String()) }),
)
export type NotificationTest = Static<typeof NotificationTest>

/** What the caller gets by mail of one workspace. */
export const OwnNotifications = Type.Object({ ownerId: Id('workspace'), emailEnabled: Type.Boolean() }, { $id: 'OwnNotifications' })
export type OwnNotifications = Static<typeof OwnNotifications>

export const OwnNotificationsPatch = StrictObject({ ownerId: Type.Optional(Type.String()), emailEnabled: Type.Boolean() })
