import type { IdentityContext } from '../context.ts'
import type { WorkspaceContents } from './contents.ts'
import { findDetails, removeWorkspaceRow } from './store.ts'

const WAIT_MS = 250

/** Keeps no state, so it goes on wherever it was cut off. Returns when to look again (ms since 1970). */
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
