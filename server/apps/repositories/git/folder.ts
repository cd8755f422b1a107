import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { removeTree } from '../../../platform/files/tree/remove.ts'
import type { Paths } from '../../../platform/paths.ts'
import { ensureFolder } from '../../../platform/service-folders.ts'
import type { AppContext } from '../../context.ts'
import { AUTHORITY_FILE, type Remote } from './environment.ts'
import { gitUid } from './user.ts'

const USERS_ALONE = 0o700

/** Above all attributes that a repository can have: its files are packed as they are, and all of them. */
const PLAIN = '* -text -eol -ident -filter -working-tree-encoding -export-ignore -export-subst\n'

/** A folder for git's user, for as long as `run` takes. What root writes there it writes before git does. */
export async function inGitFolder<T>(
  { db, paths }: Pick<AppContext, 'db' | 'paths'>,
  { authority }: Pick<Remote, 'authority'>,
  run: (folder: string) => Promise<T>,
): Promise<T> {
  const uid = gitUid(db)
  const folder = join(paths.fetches, crypto.randomUUID())
  try {
    await mkdir(join(folder, 'info'), { recursive: true })
    await writeFile(join(folder, 'info', 'attributes'), PLAIN)
    if (authority !== undefined) await writeFile(join(folder, AUTHORITY_FILE), authority)
    await ensureFolder(folder, USERS_ALONE, { uid, gid: uid })
    return await run(folder)
  } finally {
    await removeTree(folder)
  }
}

/** At a start: removes what fetches left whose process died, and git with it. */
export async function sweepFetches({ fetches }: Pick<Paths, 'fetches'>): Promise<void> {
  for (const name of await readdir(fetches)) await removeTree(join(fetches, name))
}
