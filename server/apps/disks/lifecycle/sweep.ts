import { isId } from '../../../../shared/id.ts'
import type { AppContext } from '../../context.ts'
import { diskById } from '../store.ts'

/** Removes volumes of disks that are gone. A volume is always made after the row of its disk. */
export async function sweepDisks({ db, engine: { volumes }, stopping }: Pick<AppContext, 'db' | 'engine' | 'stopping'>): Promise<void> {
  for (const id of await volumes.list()) {
    stopping.throwIfAborted()
    if (isId('disk', id) && diskById(db, id) === undefined) await volumes.remove(id)
  }
}
