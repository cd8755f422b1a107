import type { Operations } from '../../../shared/operations/all.ts'
import { DEFAULT_PAGE_ITEMS, idAfter, pageOf } from '../../http/answers/page.ts'
import type { Actor, Handlers } from '../../http/handlers/call.ts'
import type { IdentityContext } from '../context.ts'
import { readSeeded } from '../memberships/seeded.ts'
import { listWorkspacesOf, presentOwner, type StoredWorkspace } from '../memberships/store.ts'
import { requireRightInWorkspace } from '../scopes/protection.ts'
import { changeWorkspace, createWorkspace, deleteWorkspace, requireDetails } from './operations.ts'
import { presentDetails } from './store.ts'

type WorkspaceIds = Extract<
  keyof Operations,
  'listOwners' | 'getOwner' | 'createWorkspace' | 'getWorkspace' | 'updateWorkspace' | 'deleteWorkspace'
>

export const workspaceRoutes: Handlers<WorkspaceIds, IdentityContext> = {
  listOwners({ actor, query }, context) {
    const after = idAfter(query.cursor)
    const isWanted = ({ id, name, email }: StoredWorkspace) =>
      (after === undefined || id < after) && (query.name?.includes(name) ?? true) && (query.email?.includes(email) ?? true)
    const page = visibleTo(context, actor)
      .filter(isWanted)
      .slice(0, query.limit ?? DEFAULT_PAGE_ITEMS)
    return pageOf('owner', page.map(presentOwner), ({ id }) => [id])
  },
  getOwner: ({ actor }, context) => presentOwner(requireDetails(context, actor.workspaceId)),
  createWorkspace({ actor, body, note }, context) {
    const workspace = createWorkspace(context, actor, body)
    note({ target: workspace.id, workspaceIds: [actor.workspaceId, workspace.id] })
    return presentDetails(workspace)
  },
  getWorkspace: ({ actor }, context) => presentDetails(requireDetails(context, actor.workspaceId)),
  updateWorkspace: ({ actor, body }, context) => presentDetails(changeWorkspace(context, actor, body)),
  deleteWorkspace({ actor, query, note }, context) {
    requireRightInWorkspace(context.db, actor)
    deleteWorkspace(context, actor.workspaceId, query.confirm)
    // Nobody can read its own log from now on: that of the operator's workspace tells it as well.
    const operators = readSeeded(context.db)?.workspaceId
    note({ workspaceIds: [actor.workspaceId, ...(operators === undefined ? [] : [operators])] })
  },
}

/** A user sees every workspace they are in; a key or the static token only the one it belongs to. */
const visibleTo = (context: IdentityContext, actor: Actor): StoredWorkspace[] =>
  actor.type === 'user' ? listWorkspacesOf(context.db, actor.id) : [requireDetails(context, actor.workspaceId)]
