import type { Operations } from '../../../shared/operations/all.ts'
import { idPageOf, pageOf } from '../../http/answers/page.ts'
import type { Handlers } from '../../http/handlers/call.ts'
import type { AppContext } from '../context.ts'
import { changeDisk, createDisk, deleteDisk, deleteSnapshot, orderSnapshot, requireDisk, restoreSnapshot } from './operations.ts'
import { presentDisk, presentSnapshot } from './present.ts'
import { snapshotsOf } from './snapshot-store.ts'
import { listDisks } from './store.ts'

type DiskIds = Extract<
  keyof Operations,
  | 'listDisks'
  | 'createDisk'
  | 'getDisk'
  | 'updateDisk'
  | 'deleteDisk'
  | 'listDiskSnapshots'
  | 'createDiskSnapshot'
  | 'restoreDiskSnapshot'
  | 'deleteDiskSnapshot'
>

export const diskRoutes: Handlers<DiskIds, AppContext> = {
  listDisks({ actor, query }, context) {
    const page = idPageOf(query)
    return pageOf(
      'disk',
      listDisks(context.db, actor, { ...query, ...page }).map((disk) => presentDisk(context.db, disk)),
      ({ id }) => [id],
    )
  },
  createDisk: ({ actor, body }, context) => presentDisk(context.db, createDisk(context, actor, body)),
  getDisk: ({ actor, params }, context) => presentDisk(context.db, requireDisk(context, actor, params.diskId)),
  updateDisk: ({ actor, params, body }, context) =>
    presentDisk(context.db, changeDisk(context, actor, { disk: requireDisk(context, actor, params.diskId), patch: body })),
  deleteDisk({ actor, params }, context) {
    deleteDisk(context, requireDisk(context, actor, params.diskId))
  },
  listDiskSnapshots({ actor, params }, context) {
    const { id } = requireDisk(context, actor, params.diskId)
    return snapshotsOf(context.db, id)
      .filter(({ status }) => status !== 'deleting')
      .map(presentSnapshot)
  },
  createDiskSnapshot: ({ actor, params }, context) => presentSnapshot(orderSnapshot(context, requireDisk(context, actor, params.diskId))),
  restoreDiskSnapshot: ({ actor, params, body }, context) =>
    presentDisk(context.db, restoreSnapshot(context, requireDisk(context, actor, params.diskId), body.snapshotKey)),
  deleteDiskSnapshot({ actor, params }, context) {
    deleteSnapshot(context, requireDisk(context, actor, params.diskId), params.snapshotKey)
  },
}
