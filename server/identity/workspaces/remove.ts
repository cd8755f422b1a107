import type { IdentityContext } from '../context.ts'
import type { WorkspaceContents } from './contents.ts'
import { findDetails, removeWorkspaceRow } from './store.ts'

/** How soon it is looked at again what is left: contents are removed by reconcilers of their own. */
const WAIT_MS = 250

/**
 * Removes a workspace that was deleted: first its contents, each kind the way it goes for a caller, then its row. Looks at what there is
 * and keeps no state, so it goes on wherever it was cut off. Returns when it is to be looked at again (ms since 1970), or undefined.
 */
export async function reconcileWorkspace(
  { db, audit, now }: Pick<IdentityContext, 'db' | 'audit' | 'now'>,
  contents: readonly WorkspaceContents[],
  workspaceId: string,
): Promise<number | undefined> {
  const workspace = findDetails(db, workspaceId)
  if (workspace === undefined || workspace.deletedAt === null) return undefined
  const left = contents.filter(({ remove }) => remove(workspaceId))
  if (left.length > 0) return now() + WAIT_MS
  db.transaction(() => {
    removeWorkspaceRow(db, workspaceId)
    audit.system({ event: 'workspace.removed', target: workspaceId, metadata: { name: workspace.name } })
  })()
  return undefined
}
