import type { Operations } from '../../../shared/operations/all.ts'
import { DEFAULT_PAGE_ITEMS, decodeCursor, idPageOf, pageOf } from '../../http/answers/page.ts'
import type { Handlers } from '../../http/handlers/call.ts'
import type { AppContext } from '../context.ts'
import { deliverTest } from './deliver-test.ts'
import { insertDelivery, listDeliveries } from './delivery-store.ts'
import { createWebhook, deleteWebhook, requireWebhook, rotateSecret, updateWebhook } from './operations.ts'
import { presentDelivery, presentSecret, presentWebhook } from './present.ts'
import { resend } from './resend.ts'
import { listWebhooks } from './store.ts'

type WebhookIds = Extract<keyof Operations, `${string}Webhook${string}`>

export const webhookRoutes: Handlers<WebhookIds, AppContext> = {
  listWebhooks({ actor, query }, { db, now }) {
    const found = listWebhooks(db, actor.workspaceId, idPageOf(query))
    return pageOf(
      'webhook',
      found.map((webhook) => presentWebhook(webhook, now())),
      ({ id }) => [id],
    )
  },
  createWebhook: ({ actor, body }, context) => presentSecret(createWebhook(context, actor.workspaceId, body), context.now()),
  getWebhook: ({ actor, params }, context) => presentWebhook(requireWebhook(context, actor, params.webhookId), context.now()),
  updateWebhook({ actor, params, body }, context) {
    const webhook = requireWebhook(context, actor, params.webhookId)
    return presentWebhook(updateWebhook(context, webhook, body), context.now())
  },
  deleteWebhook({ actor, params }, context) {
    deleteWebhook(context, requireWebhook(context, actor, params.webhookId))
  },
  listWebhookEvents({ actor, params, query }, context) {
    const { id: webhookId } = requireWebhook(context, actor, params.webhookId)
    const position = decodeCursor(query.cursor, ['number', 'string'])
    const found = listDeliveries(context.db, {
      webhookId,
      sentAfter: query.sentAfter === undefined ? -1 : Date.parse(query.sentAfter),
      sentBefore: query.sentBefore === undefined ? Number.MAX_SAFE_INTEGER : Date.parse(query.sentBefore),
      after: position && { sentAt: Number(position[0]), id: String(position[1]) },
      limit: query.limit ?? DEFAULT_PAGE_ITEMS,
    })
    return pageOf('webhookEvent', found.map(presentDelivery), ({ sentAt, id }) => [Date.parse(sentAt), id])
  },
  async testWebhook({ actor, params, change }, context) {
    const delivery = await deliverTest(context, requireWebhook(context, actor, params.webhookId))
    const { nextAttemptAt: _, ...sent } = delivery
    return change(() => {
      requireWebhook(context, actor, params.webhookId)
      insertDelivery(context.db, sent)
      return presentDelivery(delivery)
    })
  },
  rotateWebhookSecret({ actor, params }, context) {
    const webhook = requireWebhook(context, actor, params.webhookId)
    return presentSecret(rotateSecret(context, webhook), context.now())
  },
  resendWebhookEvents({ actor, params, body }, context) {
    resend(context, requireWebhook(context, actor, params.webhookId), body)
  },
}
