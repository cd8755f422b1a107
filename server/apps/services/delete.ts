import { inOneChange } from '../../platform/db/change.ts'
import { deleteSetsOf } from '../../runtime/workloads/set-store.ts'
import { deleteWorkloadsOf } from '../../runtime/workloads/store.ts'
import type { AppContext } from '../context.ts'
import { recordEvent } from '../events/store.ts'
import { ownerOf } from './owner.ts'
import { markDeleted, removeServiceRow, type StoredService } from './store.ts'

export function deleteService(context: AppContext, service: StoredService): void {
  const owner = ownerOf(service)
  inOneChange(context.db, () => {
    markDeleted(context.db, owner.id, context.now())
    recordEvent(context.db, { owner, type: 'service_deleted', now: context.now() })
    for (const { release } of context.belongings) release?.(context, owner)
    context.work.poke('service', owner.id)
  })
}

/** The last step of a deletion, when nothing of the service runs any more: all that it has, then its row. Repeatable. */
export async function removeService(context: AppContext, service: StoredService): Promise<void> {
  for (const { remove } of context.belongings) await remove?.(context, ownerOf(service))
  const { id: target, name, workspaceId } = service
  context.db.transaction(() => {
    removeServiceRow(context.db, target)
    deleteWorkloadsOf(context.db, 'service', target)
    deleteSetsOf(context.db, { ownerKind: 'service', ownerId: target })
    context.audit.system({ event: 'service.removed', workspaceId, target, metadata: { name } })
  })()
}
