import { readdir } from 'node:fs/promises'
import { isId } from '../../../shared/id.ts'
import { removeTree } from '../../platform/files/tree/remove.ts'
import type { AppContext } from '../context.ts'
import { diskPathsOf } from '../disks/paths.ts'
import { diskById } from '../disks/store.ts'

/** Removes folders of disks that are gone. A folder is always made after its row. */
export async function sweepDisks({ db, paths, stopping }: Pick<AppContext, 'db' | 'paths' | 'stopping'>): Promise<void> {
  for (const name of await readdir(paths.disks).catch(() => [])) {
    stopping.throwIfAborted()
    // Other folders, such as lost+found, are not ours.
    if (isId('disk', name) && diskById(db, name) === undefined) await removeTree(diskPathsOf(paths, name).root)
  }
}
