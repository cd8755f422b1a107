import { isId } from '../../../../shared/id.ts'
import { isDrillVolume } from '../../backups/rows/set-store.ts'
import type { AppContext } from '../../context.ts'
import { isDatastoreVolume } from '../../datastores/store.ts'
import { diskById } from '../store.ts'

/** Removes volumes of disks and datastores that are gone. A volume is always made after the row that names it. */
export async function sweepDisks({ db, engine: { volumes }, stopping }: Pick<AppContext, 'db' | 'engine' | 'stopping'>): Promise<void> {
  for (const id of await volumes.list()) {
    stopping.throwIfAborted()
    if (isId('disk', id) && diskById(db, id) === undefined && !isDatastoreVolume(db, id) && !isDrillVolume(db, id)) await volumes.remove(id)
  }
}
