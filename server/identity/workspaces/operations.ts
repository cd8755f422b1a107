import { AppError, invalidValue } from '../../../shared/error.ts'
import type { WorkspaceCreate, WorkspacePatch } from '../../../shared/workspace.ts'
import type { Actor } from '../../http/handlers/call.ts'
import { afterChange } from '../../platform/db/change.ts'
import { newId } from '../../platform/id.ts'
import type { IdentityContext } from '../context.ts'
import { refuseManyWorkspaces } from '../memberships/limit.ts'
import { readSeeded } from '../memberships/seeded.ts'
import { insertMember, insertWorkspace } from '../memberships/store.ts'
import { requireWorkspaceRoom } from '../quotas/enforce.ts'
import { hasTwoFactor } from '../two-factor/store.ts'
import { findUser } from '../users/store.ts'
import { findDetails, markWorkspaceDeleted, type StoredDetails, updateDetails } from './store.ts'

/** @throws AppError `not_found` for a workspace that is not there, or not any more. */
export function requireDetails({ db }: Pick<IdentityContext, 'db'>, id: string): StoredDetails {
  const workspace = findDetails(db, id)
  if (workspace === undefined || workspace.deletedAt !== null)
    throw new AppError('not_found', 'There is no workspace with this id that you are a member of.')
  return workspace
}

/** @throws AppError `forbidden` for a key, which belongs to one workspace, `conflict` for who is in, or has made, too many. */
export function createWorkspace(
  context: Pick<IdentityContext, 'db' | 'now' | 'config' | 'machine'>,
  actor: Actor,
  { name }: WorkspaceCreate,
): StoredDetails {
  const { db, now } = context
  const user = actor.type === 'api_key' ? undefined : findUser(db, actor.id)
  if (user === undefined)
    throw new AppError('forbidden', 'An API key belongs to one workspace, and cannot be the administrator of another. Log in as a user.')
  refuseManyWorkspaces(db, user.id)
  requireWorkspaceRoom(context, actor.workspaceId, user.email)
  const createdAt = now()
  const id = newId('workspace', createdAt)
  insertWorkspace(db, { id, name, email: user.email, createdAt })
  insertMember(db, { workspaceId: id, userId: user.id, role: 'admin', createdAt })
  return requireDetails(context, id)
}

/** @throws AppError `conflict` for a user who would lock themselves out. */
export function changeWorkspace(context: Pick<IdentityContext, 'db'>, actor: Actor, patch: WorkspacePatch): StoredDetails {
  const workspace = requireDetails(context, actor.workspaceId)
  const { name = workspace.name, requiresTwoFactor = workspace.requiresTwoFactor } = patch
  if (requiresTwoFactor && !workspace.requiresTwoFactor && actor.type === 'user' && !hasTwoFactor(context.db, actor.id))
    throw new AppError(
      'conflict',
      'You have no second factor yourself, so this would lock you out. Set one up first, with cpctl account two-factor enable or on your account page.',
    )
  updateDetails(context.db, workspace.id, { name, requiresTwoFactor })
  return requireDetails(context, workspace.id)
}

/** @throws AppError `validation_failed` unless `confirm` is its name, `conflict` for the workspace of the first start. */
export function deleteWorkspace(context: Pick<IdentityContext, 'db' | 'now' | 'work'>, id: string, confirm: string | undefined): void {
  const { name } = requireDetails(context, id)
  if (readSeeded(context.db)?.workspaceId === id)
    throw new AppError('conflict', 'This is the workspace of the first start, which the static token opens. It cannot be deleted.')
  if (confirm !== name) throw invalidValue('/confirm', `To delete the workspace with everything in it, give its name as confirm: ${name}`)
  markWorkspaceDeleted(context.db, id, context.now())
  afterChange(context.db, () => context.work.poke('workspace', id))
}
