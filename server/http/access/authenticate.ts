import { AppError } from '../../../shared/error.ts'
import type { Operation } from '../../../shared/operation.ts'
import type { Actor } from '../handlers/call.ts'
import type { Credential } from './credential.ts'

export interface Principal {
  rateKey: string
  actorIn(workspaceId: string | undefined): Actor | undefined
  /** The principal as of now, where its session outlasts its credential: a WebSocket goes on while a short-lived token ends. */
  again?(): Principal | undefined
}

export type Identify = (credential: Credential) => Principal | undefined

/** One sentence covers unknown, over and revoked: which of them it is concerns nobody who only shows it. */
const missing: Record<Credential['kind'], string> = {
  none: 'Log in, or send a valid API key as "Authorization: Bearer <key>".',
  malformed: 'This Authorization header cannot be read. Send a valid API key as "Authorization: Bearer <key>".',
  bearer: 'This key or token is unknown, over or revoked. Send a valid API key, or log in again.',
  session: 'This session is over. Log in again.',
}

/** @throws AppError `unauthorized` without a principal, saying what was wrong with what the request shows. */
export function requirePrincipal(principal: Principal | undefined, { kind }: Credential): Principal {
  if (principal === undefined) throw new AppError('unauthorized', missing[kind])
  return principal
}

/** @throws AppError `not_found` for a workspace of others, `validation_failed` for two, `forbidden` for a caller in none. */
export function enterWorkspace(principal: Principal, named: readonly string[]): Actor {
  if (named.length === 0) return firstWorkspaceOf(principal)
  const [first, ...others] = new Set(named.filter((id) => id !== ''))
  if (first === undefined) return firstWorkspaceOf(principal)
  const actor = principal.actorIn(first)
  if (actor === undefined || others.some((id) => principal.actorIn(id) === undefined)) {
    throw new AppError('not_found', 'There is no workspace with this id that you are a member of.')
  }
  if (others.length > 0)
    throw new AppError('validation_failed', 'The request names two workspaces. Name one, in ownerId or X-Workspace-Id.')
  return actor
}

function firstWorkspaceOf(principal: Principal): Actor {
  const actor = principal.actorIn(undefined)
  if (actor === undefined)
    throw new AppError('forbidden', 'You are in no workspace. Ask for an invite: its link lets you in with your password.')
  return actor
}

/** @throws AppError `forbidden` naming the permission that the caller lacks, or wanting a person or a second factor. */
export function requireAccess(actor: Actor, { access, usersOnly }: Pick<Operation, 'access' | 'usersOnly'>): void {
  if (usersOnly && actor.type !== 'user') {
    throw new AppError('forbidden', 'This is about the account of a person, and a key has none. Sign in with cpctl login, or in a browser.')
  }
  if (access === 'public' || access === 'authenticated') return
  if (actor.isTwoFactorMissing) {
    throw new AppError(
      'forbidden',
      'This workspace lets nobody in without two-factor sign-in. Set it up with cpctl account two-factor enable, or POST /v1/auth/two-factor.',
    )
  }
  if (actor.permissions.has(access)) return
  throw new AppError('forbidden', `Your role "${actor.role}" lacks the permission ${access}. Ask an administrator for a role that has it.`)
}
