/** The state that the authority tells decides the next step, so a new order and one taken up after a crash go the same way. */

import { createPrivateKey, X509Certificate } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Authorization, Client, Order } from 'acme-client'
import { keyPurpose } from '../../../ingress/tables/certificate-table.ts'
import { newId } from '../../../platform/id.ts'
import { forgetUnderWay, keepUnderWay, type OrderUnderWay, type StoredOrder } from '../store/orders.ts'
import { newEcKey } from '../x509/ec-key.ts'
import { blocksOf } from '../x509/inspect.ts'
import { AcmeProblem, problemOf } from './problem.ts'
import { chooseChallenge, type ResponderParts, whileAnswered } from './respond.ts'
import { currentConversation } from './transport.ts'

export interface Issued extends Pick<OrderUnderWay, 'directory' | 'certificateId' | 'keySealed'> {
  chain: string
}

const ORDER_DEADLINE_MS = 10 * 60_000
const FIRST_POLL_MS = 250
const LONGEST_POLL_MS = 10_000

/** Obtains the certificate of an order, which can be taken up again after a failure. @throws AcmeProblem; `signal`'s reason when it aborts. */
export async function obtain(parts: ResponderParts, order: StoredOrder, signal: AbortSignal): Promise<Issued> {
  const deadline = AbortSignal.timeout(ORDER_DEADLINE_MS)
  try {
    return await parts.authority.talk(AbortSignal.any([signal, deadline]), (client) => bringToItsEnd(parts, client, order))
  } catch (error) {
    signal.throwIfAborted()
    if (deadline.aborted) throw new AcmeProblem('timeout', `it was not done within ${ORDER_DEADLINE_MS / 60_000} minutes`)
    throw error
  }
}

async function bringToItsEnd(parts: ResponderParts, client: Client, stored: StoredOrder): Promise<Issued> {
  const { underWay, order: first } = (await takeUp(parts, client, stored)) ?? (await begin(parts, client, stored.host))
  const poll = createPoll()
  for (let order = first; ; ) {
    switch (order.status) {
      case 'pending':
        await authorize(parts, client, order)
        await poll()
        order = await client.getOrder(order)
        break
      case 'ready':
        order = await client.finalizeOrder(order, await csrFor(parts, stored.host, underWay))
        break
      case 'processing':
        await poll()
        order = await client.getOrder(order)
        break
      case 'valid':
        return { ...underWay, chain: fitting(parts, underWay, { host: stored.host, chain: await client.getCertificate(order) }) }
      default:
        forgetUnderWay(parts.context.db, stored.host)
        throw problemOf('error' in order ? order.error : undefined, { fallback: `the order became ${order.status}` })
    }
  }
}

interface Begun {
  underWay: OrderUnderWay
  order: Order
}

async function takeUp({ authority, context }: ResponderParts, client: Client, { host, underWay }: StoredOrder): Promise<Begun | undefined> {
  if (underWay === undefined) return undefined
  if (underWay.directory === authority.settings.directory) {
    const order = await client.getOrder({ url: underWay.orderUrl } as Order).catch((error) => {
      if (error instanceof AcmeProblem && isUnknownOrder(error)) return undefined
      throw error
    })
    if (order !== undefined && order.status !== 'invalid') return { underWay, order }
  }
  forgetUnderWay(context.db, host)
  return undefined
}

const isUnknownOrder = ({ type }: AcmeProblem): boolean => ['malformed', 'unauthorized', 'orderNotFound', 'badAnswer'].includes(type)

async function begin({ authority, context }: ResponderParts, client: Client, host: string): Promise<Begun> {
  const order = await client.createOrder({ identifiers: [{ type: 'dns', value: host }] })
  const certificateId = newId('certificate')
  const keySealed = context.sealer.seal(newEcKey(), keyPurpose(certificateId))
  const underWay = { directory: authority.settings.directory, orderUrl: order.url, certificateId, keySealed }
  // The order is kept before its key is used: what the authority then issues can always be fetched.
  keepUnderWay(context.db, host, underWay)
  return { underWay, order }
}

async function csrFor({ context }: ResponderParts, host: string, { certificateId, keySealed }: OrderUnderWay): Promise<string> {
  const { crypto } = await import('acme-client')
  const [, csr] = await crypto.createCsr({ altNames: [host] }, context.sealer.open(keySealed, keyPurpose(certificateId)))
  return csr.toString()
}

function fitting(
  { context }: ResponderParts,
  { certificateId, keySealed }: OrderUnderWay,
  { host, chain }: { host: string; chain: string },
): string {
  const key = createPrivateKey(context.sealer.open(keySealed, keyPurpose(certificateId)))
  try {
    const own = new X509Certificate(blocksOf(chain)[0] ?? '')
    if (own.checkPrivateKey(key) && own.subjectAltName?.split(', ').includes(`DNS:${host}`)) return chain
  } catch {}
  throw new AcmeProblem('badAnswer', 'It sent something else than the certificate that it was asked for.')
}

async function authorize(parts: ResponderParts, client: Client, order: Order): Promise<void> {
  for (const authorization of await client.getAuthorizations(order)) {
    refuseFailed(authorization)
    if (authorization.status !== 'pending') continue
    const challenge = chooseChallenge(authorization, parts.authority.settings.challenge)
    const { signal } = currentConversation()
    await whileAnswered(parts, { client, authorization, challenge, signal }, async () => {
      await client.completeChallenge(challenge)
      await settled(client, order, authorization.url)
    })
  }
}

async function settled(client: Client, order: Order, url: string): Promise<void> {
  for (const poll = createPoll(); ; ) {
    await poll()
    const authorization = (await client.getAuthorizations(order)).find((candidate) => candidate.url === url)
    if (authorization === undefined) throw new AcmeProblem('badAnswer', 'The order has lost its authorization.')
    refuseFailed(authorization)
    if (authorization.status !== 'pending') return
  }
}

function refuseFailed({ status, challenges }: Authorization): void {
  if (status === 'pending' || status === 'valid') return
  const failed = challenges.find((challenge) => 'error' in challenge)
  throw problemOf(failed !== undefined && 'error' in failed ? failed.error : undefined, { fallback: `the authorization became ${status}` })
}

function createPoll(): () => Promise<void> {
  let waitMs = FIRST_POLL_MS
  return async () => {
    const { signal, pollAfterMs = 0 } = currentConversation()
    await sleep(Math.min(Math.max(waitMs, pollAfterMs), LONGEST_POLL_MS), undefined, { signal })
    waitMs *= 2
  }
}
