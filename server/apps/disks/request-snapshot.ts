import type { SnapshotOrigin } from '../../../shared/disk.ts'
import { newId } from '../../platform/id.ts'
import type { AppContext } from '../context.ts'
import { insertSnapshot } from './snapshot-store.ts'
import type { StoredDisk } from './store.ts'

export function requestSnapshot({ db, now }: Pick<AppContext, 'db' | 'now'>, disk: StoredDisk, origin: SnapshotOrigin): string {
  const createdAt = now()
  const key = newId('diskSnapshot', createdAt)
  insertSnapshot(db, { key, diskId: disk.id, status: 'creating', origin, createdAt })
  return key
}
