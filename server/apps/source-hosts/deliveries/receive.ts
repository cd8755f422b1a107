import { AppError } from '../../../../shared/error.ts'
import { maxDeliveryBytes } from '../../../../shared/source-host.ts'
import type { AuditFacts } from '../../../http/handlers/call.ts'
import { type Answer, answer } from '../../../http/handlers/call.ts'
import { BODY_DEADLINE_MS, parseJson, readBounded } from '../../../http/input/json-body.ts'
import { hashToken } from '../../../identity/tokens/token.ts'
import type { AppContext } from '../../context.ts'
import { githubAppById } from '../providers/github/apps.ts'
import { takeDelivery } from '../store/deliveries.ts'
import { installationById, installationOfApp, type StoredInstallation } from '../store/installations.ts'
import { personalSecrets } from '../store/secrets.ts'
import { applyEvent } from './apply.ts'
import { about, eventOf } from './event.ts'
import { hookSecretOf, isSigned } from './signature.ts'

export interface Received {
  request: Request
  change<T>(apply: () => T): T
  note(facts: AuditFacts): void
}

interface Signed {
  sender: string
  event: string
  deliveryId: string
  signature: string
  body: Uint8Array
  /** URLs of the repository whose webhook it is, whatever the delivery says. */
  urls?: string[]
}

const DELIVERY_ID = /^[\w-]{1,64}$/

export async function receiveGithub(context: AppContext, call: Received): Promise<Answer<undefined>> {
  const { headers } = call.request
  const keys = githubAppById(context, headers.get('x-github-hook-installation-target-id') ?? '')
  const signature = (headers.get('x-hub-signature-256') ?? '').replace(/^sha256=/, '')
  const body = await bodyOf(call.request)
  requireSigned(isSigned(body, signature, keys?.webhookSecret ?? ''))
  const signed = {
    sender: `app:${keys?.appId}`,
    event: headers.get('x-github-event') ?? '',
    deliveryId: headers.get('x-github-delivery') ?? '',
    signature,
    body,
  }
  return take(context, call, signed, (payload) => installationOfApp(context.db, keys?.appId ?? '', installationIdOf(payload)))
}

export async function receiveGitea(
  context: AppContext,
  call: Received & { installationId: string; repo: string },
): Promise<Answer<undefined>> {
  const { headers } = call.request
  const installation = installationById(context.db, call.installationId)
  const secret =
    installation?.provider === 'gitea'
      ? personalSecrets.open(context.sealer, installation.id, installation.secretsSealed ?? '').webhookSecret
      : ''
  const signature = headers.get('x-gitea-signature') ?? headers.get('x-forgejo-signature') ?? ''
  const body = await bodyOf(call.request)
  requireSigned(isSigned(body, signature, hookSecretOf(secret, call.repo)))
  const event = headers.get('x-gitea-event') ?? headers.get('x-forgejo-event') ?? ''
  const deliveryId = headers.get('x-gitea-delivery') ?? headers.get('x-forgejo-delivery') ?? ''
  const urls = installation && [`${installation.url}/${call.repo}`]
  const signed = { sender: call.installationId, event, deliveryId, signature, body, ...(urls && { urls }) }
  return take(context, call, signed, () => installation)
}

function requireSigned(isGenuine: boolean): void {
  if (!isGenuine) throw new AppError('unauthorized', 'The delivery is not signed with the secret of a webhook that is known here.')
}

const bodyOf = async (request: Request): Promise<Uint8Array> =>
  request.body === null ? new Uint8Array() : readBounded(request, { maxBytes: maxDeliveryBytes, deadlineMs: BODY_DEADLINE_MS })

/** What a delivery leads to is written with its id, in one transaction: it is taken once, and wholly. */
function take(
  context: AppContext,
  { change, note }: Received,
  { sender, event, deliveryId, signature, body, urls }: Signed,
  installationFor: (payload: unknown) => StoredInstallation | undefined,
): Answer<undefined> {
  if (!DELIVERY_ID.test(deliveryId)) throw new AppError('bad_request', 'The delivery has no id of the form that hosts give.')
  const payload = parseJson(body)
  change(() => {
    takeDelivery(context.db, { sender, deliveryId, signature: hashToken(signature) }, context.now())
    const installation = installationFor(payload)
    const isChange = installation !== undefined && applyEvent(context, installation, about(eventOf(event, payload), urls))
    const workspaceIds = installation === undefined ? [] : [installation.workspaceId]
    note(isChange ? { workspaceIds, target: installation?.id ?? '', metadata: { event } } : { isUnchanged: true })
  })
  return answer(202, undefined)
}

function installationIdOf(payload: unknown): string {
  const { installation } = (payload ?? {}) as { installation?: { id?: unknown } }
  return typeof installation?.id === 'number' ? String(installation.id) : ''
}
