import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { isId } from '../../../../shared/id.ts'
import { removeTree } from '../../../platform/files/tree/remove.ts'
import type { AppContext } from '../../context.ts'
import { materialFolder } from '../repository/layout.ts'
import { recoveryOf } from '../rows/recovery-store.ts'
import { isTriedOut } from '../rows/set-store.ts'

/** Removes decrypted backups that were laid for what is no more: a kill leaves them where a database was deleted while it was recovered. */
export async function sweepRestores({ paths, db }: Pick<AppContext, 'paths' | 'db'>): Promise<void> {
  const folder = dirname(materialFolder(paths, 'any'))
  if (!existsSync(folder)) return
  for (const name of await readdir(folder)) {
    const isOfDatastore = isId('postgres', name) || isId('keyValue', name)
    const isOver = isOfDatastore ? recoveryOf(db, name) === undefined : isId('backup', name) && !isTriedOut(db, name)
    if (isOver) await removeTree(materialFolder(paths, name))
  }
}
