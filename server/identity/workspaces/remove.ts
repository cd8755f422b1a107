import { deleteDisk } from '../../apps/disks/operations.ts'
import { diskById } from '../../apps/disks/store.ts'
import { deleteService } from '../../apps/services/operations.ts'
import { serviceById } from '../../apps/services/store.ts'
import type { Context } from '../../boot/serve/context.ts'
import { findDetails, removeWorkspaceRow } from './details-store.ts'

/** How soon it is looked at again what is left; services and disks are removed by reconcilers of their own. */
const WAIT_MS = 250

/**
 * Removes a workspace that was deleted: first its services and disks, each the way it goes for a caller, then its row. Looks at what there
 * is and keeps no state, so it goes on wherever it was cut off. Returns when it is to be looked at again (ms since 1970), or undefined.
 */
export async function reconcileWorkspace(context: Context, workspaceId: string): Promise<number | undefined> {
  const { db, now } = context
  const workspace = findDetails(db, workspaceId)
  if (workspace === undefined || workspace.deletedAt === null) return undefined
  const serviceIds = idsIn(context, 'services', workspaceId)
  for (const id of serviceIds) {
    const service = serviceById(db, id)
    if (service !== undefined && service.deletedAt === null) deleteService(context, service)
  }
  // After the services, which would keep theirs for a while.
  const diskIds = idsIn(context, 'disks', workspaceId)
  for (const id of diskIds) {
    const disk = diskById(db, id)
    if (disk !== undefined && disk.status !== 'deleting') deleteDisk(context, disk)
  }
  if (serviceIds.length > 0 || diskIds.length > 0) return now() + WAIT_MS
  db.transaction(() => {
    removeWorkspaceRow(db, workspaceId)
    context.audit.system({ event: 'workspace.removed', target: workspaceId, metadata: { name: workspace.name } })
  })()
  return undefined
}

/** Also of those that are being deleted. */
const idsIn = ({ db }: Context, table: 'services' | 'disks', workspaceId: string): string[] =>
  db
    .query<{ id: string }, [string]>(`SELECT id FROM ${table} WHERE workspace_id = ?`)
    .all(workspaceId)
    .map(({ id }) => id)
