import type { Database } from 'bun:sqlite'
import { isId } from '../../../../shared/id.ts'
import { isDrillVolume } from '../../backups/rows/set-store.ts'
import type { AppContext } from '../../context.ts'
import { isDatastoreVolume } from '../../datastores/store.ts'
import { isSpareVolume } from '../../postgres/spare-store.ts'
import { diskById } from '../store.ts'

const isOwned: readonly ((db: Database, volumeId: string) => boolean)[] = [
  (db, id) => diskById(db, id) !== undefined,
  isDatastoreVolume,
  isDrillVolume,
  isSpareVolume,
]

/** Volumes of datastores have names of their own: a version of before them would take them for disks of services that are gone, and remove them. */
const isVolume = (id: string): boolean => isId('disk', id) || isId('volume', id)

/** Removes volumes of disks and datastores that are gone. A volume is always made after the row that names it. */
export async function sweepDisks({ db, engine: { volumes }, stopping }: Pick<AppContext, 'db' | 'engine' | 'stopping'>): Promise<void> {
  for (const id of await volumes.list()) {
    stopping.throwIfAborted()
    if (isVolume(id) && !isOwned.some((isKnown) => isKnown(db, id))) await volumes.remove(id)
  }
}
