import { AppError } from '../../../shared/error.ts'
import type { WebhookCreate, WebhookPatch } from '../../../shared/webhook.ts'
import { newId } from '../../platform/id.ts'
import type { AppContext } from '../context.ts'
import { latestSeq } from './feed.ts'
import { emptyQueue } from './queue-store.ts'
import { scopeIn } from './scope-ids.ts'
import { newSecret, rotation } from './secret.ts'
import { changeWebhook, countWebhooks, deleteWebhooks, findWebhook, insertWebhook, type StoredWebhook } from './store.ts'
import { policyOf, requireUrl } from './url.ts'

export type WebhookContext = Pick<AppContext, 'db' | 'now' | 'sealer' | 'config' | 'work'>

/** Each is looked at with each event of its workspace. */
export const MAX_WEBHOOKS = 1000

export interface WithSecret {
  webhook: StoredWebhook
  secret: string
}

export function createWebhook(context: WebhookContext, workspaceId: string, wanted: WebhookCreate): WithSecret {
  const { db, sealer, config } = context
  const url = requireUrl(wanted.url, policyOf(config))
  if (countWebhooks(db, workspaceId) >= MAX_WEBHOOKS)
    throw new AppError('conflict', `This workspace has ${MAX_WEBHOOKS} webhooks, the most there can be. Delete those that nobody needs.`)
  const now = context.now()
  const id = newId('webhook', now)
  const { secret, sealed } = newSecret(sealer, id)
  const webhook: StoredWebhook = {
    id,
    workspaceId,
    name: wanted.name,
    url,
    isEnabled: wanted.enabled ?? true,
    disabledReason: null,
    eventFilter: wanted.eventFilter ?? [],
    serviceIds: [],
    environmentIds: [],
    projectIds: [],
    ...scopeIn(db, workspaceId, wanted),
    secretSealed: sealed,
    previousSecretSealed: null,
    previousSecretUntil: null,
    cursorSeq: latestSeq(db),
    createdAt: now,
    updatedAt: now,
    deletedAt: null,
  }
  insertWebhook(db, webhook)
  return { webhook, secret }
}

/** Changes what is named. One that is enabled anew begins with the events that are to come. @throws AppError as `createWebhook`. */
export function updateWebhook(context: WebhookContext, webhook: StoredWebhook, patch: WebhookPatch): StoredWebhook {
  const { db, config } = context
  changeWebhook(db, webhook.id, {
    ...(patch.name !== undefined && { name: patch.name }),
    ...(patch.url !== undefined && { url: requireUrl(patch.url, policyOf(config)) }),
    ...(patch.eventFilter !== undefined && { eventFilter: patch.eventFilter ?? [] }),
    ...scopeIn(db, webhook.workspaceId, patch),
    ...enabling(context, webhook, patch.enabled),
    updatedAt: context.now(),
  })
  if (patch.enabled === false) emptyQueue(db, webhook.id)
  context.work.poke('webhooks', webhook.workspaceId)
  return requireWebhook(context, webhook, webhook.id)
}

function enabling({ db }: WebhookContext, { isEnabled }: StoredWebhook, wanted: boolean | undefined): Partial<StoredWebhook> {
  if (wanted === undefined || wanted === isEnabled) return {}
  return { isEnabled: wanted, disabledReason: null, ...(wanted && { cursorSeq: latestSeq(db) }) }
}

export function rotateSecret(context: WebhookContext, webhook: StoredWebhook): WithSecret {
  const now = context.now()
  const { secret, sealed } = newSecret(context.sealer, webhook.id)
  changeWebhook(context.db, webhook.id, { ...rotation(webhook, sealed, now), updatedAt: now })
  return { webhook: requireWebhook(context, webhook, webhook.id), secret }
}

/** Nothing is sent from now on; what is known of its deliveries is removed little by little. */
export function deleteWebhook({ db, now }: WebhookContext, { id, workspaceId }: StoredWebhook): void {
  emptyQueue(db, id)
  deleteWebhooks(db, { workspaceId, id }, now())
}

export function requireWebhook({ db }: Pick<AppContext, 'db'>, { workspaceId }: { workspaceId: string }, id: string): StoredWebhook {
  const webhook = findWebhook(db, workspaceId, id)
  if (webhook === undefined)
    throw new AppError('not_found', `There is no webhook ${id} in this workspace. GET /v1/webhooks lists those there are.`)
  return webhook
}
