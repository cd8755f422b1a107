import type { AppContext } from '../../apps/context.ts'
import { deleteDatastore } from '../../apps/datastores/operations.ts'
import { datastoresOfWorkspace } from '../../apps/datastores/store.ts'
import { deleteDisk } from '../../apps/disks/operations.ts'
import { disksOfWorkspace } from '../../apps/disks/store.ts'
import { forgetEventsOf } from '../../apps/events/store.ts'
import { deleteService } from '../../apps/services/delete.ts'
import { servicesOfWorkspace } from '../../apps/services/store.ts'
import { removeTransfer } from '../../apps/transfers/api/operations.ts'
import { transfersOfWorkspace } from '../../apps/transfers/rows/store.ts'
import { removeWebhooksOf } from '../../apps/webhooks/prune.ts'
import type { WorkspaceContents } from '../../identity/workspaces/contents.ts'

const EVENTS_PER_STEP = 2000

/** Each kind of resource that stands in workspaces. Disks come after services, which would keep theirs for a while. */
export const workspaceContents = (context: AppContext): WorkspaceContents[] => [
  {
    remove(workspaceId) {
      const services = servicesOfWorkspace(context.db, workspaceId)
      for (const service of services) if (service.deletedAt === null) deleteService(context, service)
      return services.length > 0
    },
  },
  {
    remove(workspaceId) {
      const disks = disksOfWorkspace(context.db, workspaceId)
      for (const disk of disks) if (disk.status !== 'deleting') deleteDisk(context, disk)
      return disks.length > 0
    },
  },
  {
    remove(workspaceId) {
      const datastores = datastoresOfWorkspace(context.db, workspaceId)
      for (const datastore of datastores) if (datastore.phase !== 'deleting') deleteDatastore(context, datastore, { isForced: true })
      return datastores.length > 0
    },
  },
  {
    remove(workspaceId) {
      const transfers = transfersOfWorkspace(context.db, workspaceId)
      for (const transfer of transfers) if (transfer.status !== 'removing') removeTransfer(context, transfer)
      return transfers.length > 0
    },
  },
  { remove: (workspaceId) => forgetEventsOf(context.db, workspaceId, EVENTS_PER_STEP) > 0 },
  { remove: (workspaceId) => removeWebhooksOf(context, workspaceId) },
]
