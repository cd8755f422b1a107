import { type Static, Type } from '@sinclair/typebox'
import { EventTypeInput } from './event.ts'
import { Id } from './id.ts'
import { Many, PageQuery, StrictObject, Time, TimeInput, visibleChar } from './schema.ts'

/** How long attempts are kept, how much of an answer is, and for how long a secret signs beside the one that replaced it. */
export const keptDeliveryDays = 30
export const keptAnswerBytes = 4096
export const bothSecretsHours = 24

/** How long a receiver has to answer, and how often an event is sent before its webhook is disabled. */
export const answerSeconds = 15
export const maxAttempts = 8

/** Marks a secret, as Standard Webhooks has it; the key is what its base64 stands for. */
export const webhookSecretPrefix = 'whsec_'

/** What a test delivery says it is: no event of this type is ever recorded. */
export const testEventType = 'webhook_test'

const maxScopeIds = 100

const EventFilter = Type.Array(EventTypeInput, { maxItems: 100 })
const idsOf = (what: string) =>
  Type.Union([Type.Array(Type.String({ maxLength: 64 }), { maxItems: maxScopeIds }), Type.Null()], {
    description: `Only events of these ${what}; none named here or in the fields beside it: of the whole workspace`,
  })

const settings = {
  name: Type.String({ minLength: 1, maxLength: 100, pattern: `^${visibleChar}*$`, examples: ['chat'] }),
  url: Type.String({
    minLength: 1,
    maxLength: 2048,
    description: 'Where events are sent by POST, over https',
    examples: ['https://example.com/hooks'],
  }),
  enabled: Type.Boolean({ description: 'While it is not, nothing is sent, and what happens meanwhile is not sent later unless asked for' }),
  eventFilter: Type.Union([EventFilter, Type.Null()], { description: 'Types of the events that are sent; null or empty is all' }),
  serviceIds: idsOf('services'),
  environmentIds: idsOf('environments'),
  projectIds: idsOf('projects'),
}

const { name, url, ...optional } = settings
const chosen = {
  enabled: Type.Optional(optional.enabled),
  eventFilter: Type.Optional(optional.eventFilter),
  serviceIds: Type.Optional(optional.serviceIds),
  environmentIds: Type.Optional(optional.environmentIds),
  projectIds: Type.Optional(optional.projectIds),
}

export const WebhookCreate = StrictObject(
  { ownerId: Type.Optional(Type.String({ maxLength: 64 })), name, url, ...chosen },
  { examples: [{ name: 'chat', url: 'https://example.com/hooks', eventFilter: ['deploy_ended'] }] },
)
export type WebhookCreate = Static<typeof WebhookCreate>

export const WebhookPatch = StrictObject(
  { name: Type.Optional(name), url: Type.Optional(url), ...chosen },
  { examples: [{ eventFilter: ['deploy_ended', 'server_failed'] }] },
)
export type WebhookPatch = Static<typeof WebhookPatch>

const fields = {
  id: Id('webhook'),
  name: Type.String(),
  url: Type.String(),
  enabled: Type.Boolean(),
  eventFilter: Type.Array(Type.String(), { description: 'Empty is all types' }),
  serviceIds: Type.Array(Type.String()),
  environmentIds: Type.Array(Type.String()),
  projectIds: Type.Array(Type.String()),
  disabledReason: Type.Optional(Type.String({ description: 'Why the server disabled it' })),
  previousSecretExpiresAt: Type.Optional(Type.String({ ...Time, description: 'Until when the secret before this one signs as well' })),
  createdAt: Time,
  updatedAt: Time,
}
export const Webhook = Type.Object(fields, { $id: 'Webhook', additionalProperties: false })
export type Webhook = Static<typeof Webhook>

export const WebhookWithSecret = Type.Object(
  { ...fields, secret: Type.String({ description: 'Shown once, never again: the receiver verifies signatures with it' }) },
  { additionalProperties: false },
)
export type WebhookWithSecret = Static<typeof WebhookWithSecret>

/** One attempt to deliver an event. */
export const WebhookEvent = Type.Object(
  {
    id: Id('webhookDelivery'),
    eventId: Id('event'),
    eventType: Type.String(),
    attempt: Type.Integer({ description: `1 to ${maxAttempts}` }),
    sentAt: Time,
    durationMs: Type.Integer(),
    request: Type.Object({ url: Type.String(), headers: Type.Record(Type.String(), Type.String()), body: Type.String() }),
    statusCode: Type.Optional(Type.Integer()),
    responseBody: Type.Optional(Type.String({ description: `The first ${keptAnswerBytes} bytes of the answer` })),
    error: Type.Optional(Type.String({ description: 'Why it counts as failed' })),
    nextAttemptAt: Type.Optional(Type.String({ ...Time, description: 'When the event is sent again' })),
  },
  { $id: 'WebhookEvent', additionalProperties: false },
)
export type WebhookEvent = Static<typeof WebhookEvent>

export const WebhookEventQuery = Type.Object({
  ...PageQuery,
  sentBefore: Type.Optional(TimeInput),
  sentAfter: Type.Optional(TimeInput),
})
export type WebhookEventQuery = Static<typeof WebhookEventQuery>

export const WebhookResend = StrictObject(
  {
    eventId: Type.Optional(Type.String({ maxLength: 64, description: 'One event, whatever its type and service' })),
    from: Type.Optional(TimeInput),
    to: Type.Optional(TimeInput),
    onlyMissed: Type.Optional(Type.Boolean({ description: 'Of a range, leave out what was delivered' })),
  },
  { examples: [{ eventId: 'evt-0b1c2d3e4f5g6h7i8j9k' }, { from: '2026-01-31T09:30:00Z', to: '2026-01-31T10:00:00Z' }] },
)
export type WebhookResend = Static<typeof WebhookResend>

export const WebhookQuery = Type.Object({ ...PageQuery, ownerId: Many(Type.String({ maxLength: 64 })) })
