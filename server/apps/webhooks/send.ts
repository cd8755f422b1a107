import { answerSeconds, keptAnswerBytes } from '../../../shared/webhook.ts'
import { OutgoingProblem } from '../../platform/outgoing/problem.ts'
import { sendOutgoing } from '../../platform/outgoing/send.ts'
import type { AppContext } from '../context.ts'
import { retryAfterMsOf } from './retry-plan.ts'
import { secretsAt, signatureOf } from './secret.ts'
import type { StoredWebhook } from './store.ts'
import { policyOf } from './url.ts'

export type SendContext = Pick<AppContext, 'now' | 'sealer' | 'config' | 'stopping' | 'lookup'>

/** How an attempt went; without an error the receiver took it. */
export interface Outcome {
  sentAt: number
  durationMs: number
  statusCode?: number
  responseBody?: string
  error?: string
  retryAfterMs?: number
}

const MS = 1000

export const fixedHeaders = (eventId: string, sentAt: number): Record<string, string> => ({
  'content-type': 'application/json',
  'user-agent': 'cpd-webhooks',
  'webhook-id': eventId,
  'webhook-timestamp': String(Math.floor(sentAt / MS)),
})

/** Sends a message once. What goes wrong is in the outcome. @throws the reason of `stopping` when the server stops meanwhile. */
export async function sendOnce(context: SendContext, webhook: StoredWebhook, message: { eventId: string; body: string }): Promise<Outcome> {
  const sentAt = context.now()
  const startedAt = performance.now()
  const outcome = await answerOf(context, webhook, { ...message, sentAt })
  return { sentAt, durationMs: Math.round(performance.now() - startedAt), ...outcome }
}

async function answerOf(
  context: SendContext,
  webhook: StoredWebhook,
  { eventId, body, sentAt }: { eventId: string; body: string; sentAt: number },
): Promise<Partial<Outcome>> {
  const secrets = secretsAt(context.sealer, webhook, sentAt)
  const signature = signatureOf(secrets, { id: eventId, timestamp: Math.floor(sentAt / MS), body })
  const headers = new Headers({ ...fixedHeaders(eventId, sentAt), 'webhook-signature': signature })
  try {
    const response = await sendOutgoing(
      { url: new URL(webhook.url), method: 'POST', headers, body },
      {
        ...policyOf(context.config),
        lookup: context.lookup,
        signal: context.stopping,
        timeoutMs: answerSeconds * MS,
        maxAnswerBytes: keptAnswerBytes,
        longAnswer: 'cut',
      },
    )
    const responseBody = await response.text()
    const retryAfterMs = retryAfterMsOf(response.headers.get('retry-after'), sentAt)
    return {
      statusCode: response.status,
      responseBody,
      ...(response.ok ? {} : { error: refusalOf(response.status) }),
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    }
  } catch (error) {
    if (!(error instanceof OutgoingProblem)) throw error
    return { error: error.message }
  }
}

const refusalOf = (status: number): string =>
  status >= 300 && status < 400
    ? `It answered ${status}, and redirects are not followed. Give the webhook the URL that it leads to.`
    : `It answered ${status}; only 2xx takes the event.`
