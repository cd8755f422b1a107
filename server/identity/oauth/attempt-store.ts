import type { Database } from 'bun:sqlite'
import { Type } from '@sinclair/typebox'
import type { ProviderId } from '../../../shared/oauth.ts'
import { json } from '../../platform/db/json-column.ts'
import type { Sealer } from '../../platform/secrets/seal.ts'
import { hashToken } from '../tokens/token.ts'
import type { ProviderAnswer, Secrets } from './providers/provider.ts'

export const ATTEMPT_MS = 10 * 60_000
/** Attempts kept at a time: beyond, the oldest go, so that nobody fills the disk with them. */
export const MAX_ATTEMPTS = 20_000

const text = Type.Optional(Type.String())
const KeptAnswer = Type.Object({ code: text, iss: text, name: text, error: text })
export type KeptAnswer = Partial<ProviderAnswer> & { error?: string | undefined }

const answers = json({ schema: KeptAnswer })

export interface Attempt {
  provider: ProviderId
  secrets: Secrets
  linkUserId: string | undefined
  inviteToken: string | undefined
  returnTo: string
}

interface AttemptRow {
  nonce: string
  verifierSealed: string
  linkUserId: string | null
  inviteTokenSealed: string | null
  returnTo: string
  answerSealed: string | null
}

interface StoreDeps {
  db: Database
  sealer: Sealer
  now(): number
}

const purposeOf = (part: 'verifier' | 'invite' | 'answer', stateHash: string): string => `oauth ${part} ${stateHash}`

/** Writes an attempt down for the browser that holds this token. Those that are over are cleared away. */
export function insertAttempt({ db, sealer, now }: StoreDeps, browserToken: string, attempt: Attempt): void {
  const { secrets, provider, linkUserId, inviteToken, returnTo } = attempt
  const stateHash = hashToken(secrets.state)
  db.query('DELETE FROM oauth_attempts WHERE expires_at <= ?').run(now())
  db.query(
    'DELETE FROM oauth_attempts WHERE state_hash IN (SELECT state_hash FROM oauth_attempts ORDER BY expires_at DESC LIMIT -1 OFFSET ?)',
  ).run(MAX_ATTEMPTS - 1)
  db.query(
    `INSERT INTO oauth_attempts
       (state_hash, provider, browser_hash, nonce, verifier_sealed, link_user_id, invite_token_sealed, return_to, expires_at)
     VALUES ($stateHash, $provider, $browserHash, $nonce, $verifier, $linkUserId, $invite, $returnTo, $expiresAt)`,
  ).run({
    stateHash,
    provider,
    browserHash: hashToken(browserToken),
    nonce: secrets.nonce,
    verifier: sealer.seal(secrets.verifier, purposeOf('verifier', stateHash)),
    linkUserId: linkUserId ?? null,
    invite: inviteToken === undefined ? null : sealer.seal(inviteToken, purposeOf('invite', stateHash)),
    returnTo,
    expiresAt: now() + ATTEMPT_MS,
  })
}

/** Keeps what a form brought, the first time only; false for a state that no attempt at this provider waits with. */
export function keepAnswer({ db, sealer, now }: StoreDeps, at: { provider: ProviderId; state: string }, answer: KeptAnswer): boolean {
  const stateHash = hashToken(at.state)
  const sealed = sealer.seal(JSON.stringify(answer), purposeOf('answer', stateHash))
  const { changes } = db
    .query(
      `UPDATE oauth_attempts SET answer_sealed = $sealed
       WHERE state_hash = $stateHash AND provider = $provider AND expires_at > $now AND answer_sealed IS NULL`,
    )
    .run({ sealed, stateHash, provider: at.provider, now: now() })
  return changes === 1
}

export interface TakenAttempt extends Attempt {
  keptAnswer: KeptAnswer | undefined
}

/** Takes the attempt of a state, so that no second answer finds it; undefined from another browser, whose attempt stays. */
export function takeAttempt(
  { db, sealer, now }: StoreDeps,
  { provider, state, browserToken }: { provider: ProviderId; state: string; browserToken: string },
): TakenAttempt | undefined {
  const stateHash = hashToken(state)
  const row = db
    .query<AttemptRow, { stateHash: string; provider: string; browserHash: string; now: number }>(
      `DELETE FROM oauth_attempts
       WHERE state_hash = $stateHash AND provider = $provider AND browser_hash = $browserHash AND expires_at > $now
       RETURNING nonce, verifier_sealed AS verifierSealed, link_user_id AS linkUserId, invite_token_sealed AS inviteTokenSealed,
         return_to AS returnTo, answer_sealed AS answerSealed`,
    )
    .get({ stateHash, provider, browserHash: hashToken(browserToken), now: now() })
  if (row === null) return undefined
  const open = (sealed: string, part: 'verifier' | 'invite' | 'answer') => sealer.open(sealed, purposeOf(part, stateHash))
  const { nonce, verifierSealed, inviteTokenSealed, answerSealed } = row
  return {
    provider,
    secrets: { state, nonce, verifier: open(verifierSealed, 'verifier') },
    linkUserId: row.linkUserId ?? undefined,
    inviteToken: inviteTokenSealed === null ? undefined : open(inviteTokenSealed, 'invite'),
    returnTo: row.returnTo,
    keptAnswer: answerSealed === null ? undefined : answers.read(open(answerSealed, 'answer')),
  }
}
