import { AppError } from '../../shared/error.ts'
import type { Access } from '../../shared/operation.ts'
import type { Actor } from './call.ts'
import type { Credential } from './credential.ts'

/** Whom a credential belongs to. What they may do depends on the workspace they act in. */
export interface Principal {
  /** What requests are counted by. */
  rateKey: string
  /** The caller in that workspace, or in their first when none is named; undefined where they are no member. */
  actorIn(workspaceId: string | undefined): Actor | undefined
}

/** Finds whom a token or session belongs to; undefined for one that is unknown, expired or revoked. */
export type Identify = (credential: Credential) => Principal | undefined

/** @throws AppError `unauthorized` without a principal. */
export function requirePrincipal(principal: Principal | undefined): Principal {
  if (principal === undefined) {
    throw new AppError('unauthorized', 'Log in, or send a valid API key as "Authorization: Bearer <key>".')
  }
  return principal
}

/**
 * The caller in the workspace they ask for. A workspace may be named in several places of a request, then it is the same one everywhere.
 *
 * @throws AppError `not_found` for a workspace that is not theirs, `validation_failed` for two different ones of theirs,
 * `forbidden` for a caller without any workspace.
 */
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
  if (actor === undefined) throw new AppError('forbidden', 'You are not a member of any workspace. Ask for an invitation.')
  return actor
}

/** @throws AppError `forbidden` naming the permission that the caller lacks. */
export function requireAccess(actor: Actor, access: Access): void {
  if (access === 'public' || access === 'authenticated' || actor.permissions.has(access)) return
  throw new AppError('forbidden', `Your role "${actor.role}" lacks the permission ${access}. Ask an administrator for a role that has it.`)
}
