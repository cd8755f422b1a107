import { Type } from '@sinclair/typebox'
import {
  NotificationOverrides,
  NotificationOverridesPatch,
  NotificationSettings,
  NotificationSettingsPatch,
  NotificationTest,
  OwnNotifications,
  OwnNotificationsPatch,
} from '../notification.ts'
import { defineOperations } from '../operation.ts'

const tag = 'Notifications'

const overrides = {
  path: '/v1/notification-settings/overrides/services/:serviceId',
  tag,
  params: Type.Object({ serviceId: Type.String({ description: 'Id of the service' }) }),
  responses: { 200: NotificationOverrides },
  errors: ['not_found'],
} as const

const settings = {
  path: '/v1/notification-settings/owners/:ownerId',
  tag,
  params: Type.Object({ ownerId: Type.String({ description: 'Id of the workspace' }) }),
  responses: { 200: NotificationSettings },
} as const

const unsubscribe = {
  path: '/v1/notification-settings/unsubscribe/:token',
  access: 'public',
  tag,
  params: Type.Object({ token: Type.String({ maxLength: 1000, 'x-secret': true }) }),
  takesSecret: false,
  isCrossSite: true,
} as const

/** What people are told of services, and where. */
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
    body: NotificationOverridesPatch,
  },
  getNotificationSettings: {
    ...settings,
    method: 'GET',
    access: 'workspace.read',
    summary: 'What people of a workspace are told, and where',
  },
  updateNotificationSettings: {
    ...settings,
    method: 'PATCH',
    access: 'notifications.manage',
    summary: 'Change what people of a workspace are told, and where',
    body: NotificationSettingsPatch,
  },
  testNotifications: {
    method: 'POST',
    path: '/v1/notification-settings/owners/:ownerId/test',
    access: 'notifications.manage',
    tag,
    summary: 'Send a message everywhere at once, and tell how it went',
    description: 'The mail goes to the caller alone.',
    params: settings.params,
    responses: { 200: NotificationTest },
    changes: 'after_waiting',
  },
  getOwnNotifications: {
    method: 'GET',
    path: '/v1/account/notifications',
    access: 'authenticated',
    usersOnly: true,
    tag,
    summary: 'Whether the calling user gets mail of a workspace',
    query: Type.Object({ ownerId: Type.Optional(Type.String()) }),
    responses: { 200: OwnNotifications },
  },
  updateOwnNotifications: {
    method: 'PATCH',
    path: '/v1/account/notifications',
    access: 'authenticated',
    usersOnly: true,
    tag,
    summary: 'Choose whether the calling user gets mail of a workspace',
    body: OwnNotificationsPatch,
    responses: { 200: OwnNotifications },
  },
  unsubscribe: {
    ...unsubscribe,
    method: 'POST',
    summary: 'Get no more mail of a workspace, by the link that stands in each',
    description: 'One click of a mail program, as RFC 8058 has it: what the body says does not matter.',
    responses: { 204: null },
    errors: ['not_found'],
  },
  openUnsubscribe: {
    ...unsubscribe,
    method: 'GET',
    summary: 'Leads to the page on which the link of a mail is confirmed',
    responses: { 303: null },
    errors: ['not_found'],
  },
})
