import { createHmac, randomBytes } from 'node:crypto'
import { bothSecretsHours, webhookSecretPrefix } from '../../../shared/webhook.ts'
import type { Sealer } from '../../platform/secrets/seal.ts'
import type { StoredWebhook } from './store.ts'

/** Standard Webhooks asks for 24 to 64 bytes. */
const SECRET_BYTES = 32
const BOTH_MS = bothSecretsHours * 60 * 60 * 1000

const purposeOf = (webhookId: string): string => `webhook:${webhookId}`

export function newSecret(sealer: Sealer, webhookId: string): { secret: string; sealed: string } {
  const secret = `${webhookSecretPrefix}${randomBytes(SECRET_BYTES).toString('base64')}`
  return { secret, sealed: sealer.seal(secret, purposeOf(webhookId)) }
}

/** What a change of secrets writes: the one of before signs on for a while. */
export const rotation = ({ secretSealed }: StoredWebhook, sealed: string, now: number): Partial<StoredWebhook> => ({
  secretSealed: sealed,
  previousSecretSealed: secretSealed,
  previousSecretUntil: now + BOTH_MS,
})

export function secretsAt(sealer: Sealer, webhook: StoredWebhook, now: number): string[] {
  const { id, secretSealed, previousSecretSealed, previousSecretUntil } = webhook
  const signsBoth = previousSecretSealed !== null && previousSecretUntil !== null && now < previousSecretUntil
  return [secretSealed, ...(signsBoth ? [previousSecretSealed] : [])].map((sealed) => sealer.open(sealed, purposeOf(id)))
}

export interface Signed {
  id: string
  timestamp: number
  body: string
}

/** `webhook-signature` of Standard Webhooks: one signature by each secret, with a space between them. */
export const signatureOf = (secrets: readonly string[], { id, timestamp, body }: Signed): string =>
  secrets.map((secret) => `v1,${createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.${body}`).digest('base64')}`).join(' ')

const keyOf = (secret: string): Buffer => Buffer.from(secret.slice(webhookSecretPrefix.length), 'base64')
