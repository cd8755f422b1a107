import { Type } from '@sinclair/typebox'
import { defineOperations } from '../operation.ts'
import { PageOf } from '../schema.ts'
import {
  answerSeconds,
  bothSecretsHours,
  maxAttempts,
  Webhook,
  WebhookCreate,
  WebhookEvent,
  WebhookEventQuery,
  WebhookPatch,
  WebhookQuery,
  WebhookResend,
  WebhookWithSecret,
} from '../webhook.ts'

const params = Type.Object({ webhookId: Type.String({ description: 'Id of the webhook' }) })

/** Events as requests to somebody's server, signed as Standard Webhooks has it. */
export const webhookOperations = defineOperations({
  listWebhooks: {
    method: 'GET',
    path: '/v1/webhooks',
    access: 'webhooks.manage',
    tag: 'Webhooks',
    summary: 'List webhooks',
    query: WebhookQuery,
    responses: { 200: PageOf('webhook', Webhook) },
  },
  createWebhook: {
    method: 'POST',
    path: '/v1/webhooks',
    access: 'webhooks.manage',
    tag: 'Webhooks',
    summary: 'Have events sent to a URL',
    description:
      'The secret is in this answer and never shown again. Each event is sent by POST and signed as Standard Webhooks has it; `webhook-id` is ' +
      `the id of the event, the same whenever it is sent again. An answer of 2xx within ${answerSeconds} s takes it; else it is tried ` +
      `${maxAttempts} times over about 33 hours, and then the webhook is disabled.`,
    body: WebhookCreate,
    responses: { 201: WebhookWithSecret },
    errors: ['not_found', 'conflict'],
    creates: true,
  },
  getWebhook: {
    method: 'GET',
    path: '/v1/webhooks/:webhookId',
    access: 'webhooks.manage',
    tag: 'Webhooks',
    summary: 'One webhook',
    params,
    responses: { 200: Webhook },
    errors: ['not_found'],
  },
  updateWebhook: {
    method: 'PATCH',
    path: '/v1/webhooks/:webhookId',
    access: 'webhooks.manage',
    tag: 'Webhooks',
    summary: 'Change, enable or disable a webhook',
    params,
    body: WebhookPatch,
    responses: { 200: Webhook },
    errors: ['not_found'],
  },
  deleteWebhook: {
    method: 'DELETE',
    path: '/v1/webhooks/:webhookId',
    access: 'webhooks.manage',
    tag: 'Webhooks',
    summary: 'Delete a webhook with what is known of its deliveries',
    params,
    responses: { 204: null },
    errors: ['not_found'],
  },
  listWebhookEvents: {
    method: 'GET',
    path: '/v1/webhooks/:webhookId/events',
    access: 'webhooks.manage',
    tag: 'Webhooks',
    summary: 'What a webhook sent in the last 30 days, attempt by attempt',
    params,
    query: WebhookEventQuery,
    responses: { 200: PageOf('webhookEvent', WebhookEvent) },
    errors: ['not_found'],
  },
  testWebhook: {
    method: 'POST',
    path: '/v1/webhooks/:webhookId/test',
    access: 'webhooks.manage',
    tag: 'Webhooks',
    summary: 'Send an event that tells of nothing, and see the answer',
    description: 'It is sent once and at once, also where the webhook is disabled. Its type is `webhook_test`.',
    params,
    responses: { 200: WebhookEvent },
    errors: ['not_found', 'conflict'],
    changes: 'after_waiting',
  },
  rotateWebhookSecret: {
    method: 'POST',
    path: '/v1/webhooks/:webhookId/rotate-secret',
    access: 'webhooks.manage',
    tag: 'Webhooks',
    summary: 'Give a webhook a new secret',
    description:
      `The new secret is in this answer and never shown again. For ${bothSecretsHours} hours what is sent is signed with both, ` +
      'so the receiver can change over meanwhile; rotated once more before, the oldest ends at once.',
    params,
    responses: { 200: WebhookWithSecret },
    errors: ['not_found'],
  },
  resendWebhookEvents: {
    method: 'POST',
    path: '/v1/webhooks/:webhookId/resend',
    access: 'webhooks.manage',
    tag: 'Webhooks',
    summary: 'Send an event again, or those of a range that the webhook is for',
    params,
    body: WebhookResend,
    responses: { 202: null },
    errors: ['not_found', 'conflict'],
  },
})
