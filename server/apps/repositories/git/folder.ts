import { chown, mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { removeTree } from '../../../platform/files/tree/remove.ts'
import type { Paths } from '../../../platform/paths.ts'
import { ensureFolder, isRoot } from '../../../platform/service-folders.ts'
import type { AppContext } from '../../context.ts'
import { AUTHORITY_FILE, type Remote } from './environment.ts'
import { sshFiles } from './ssh-files.ts'
import { gitUid } from './user.ts'

const USERS_ALONE = 0o700
const USERS_ALONE_TO_READ = 0o600

/** Above all attributes that a repository can have: its files are packed as they are, and all of them. */
const PLAIN = '* -text -eol -ident -filter -working-tree-encoding -export-ignore -export-subst\n'

type Given = Pick<AppContext, 'db' | 'paths'>

export async function inGitFolder<T>(context: Given, remote: Remote, run: (folder: string) => Promise<T>): Promise<T> {
  const folder = await openGitFolder(context, remote)
  try {
    return await run(folder)
  } finally {
    await closeGitFolder(folder)
  }
}

export async function openGitFolder({ db, paths }: Given, remote: Remote): Promise<string> {
  const uid = gitUid(db)
  const folder = join(paths.fetches, crypto.randomUUID())
  try {
    await mkdir(join(folder, 'info'), { recursive: true })
    await writeFile(join(folder, 'info', 'attributes'), PLAIN)
    for (const [name, content] of filesFor(remote)) await giveFile(join(folder, name), content, uid)
    if (remote.kind === 'ssh') await writeFile(namesFile(folder), `cpd:x:${uid}:${uid}::/nonexistent:/bin/false\n`)
    await ensureFolder(folder, USERS_ALONE, { uid, gid: uid })
    return folder
  } catch (error) {
    await closeGitFolder(folder)
    throw error
  }
}

export async function closeGitFolder(folder: string): Promise<void> {
  await rm(namesFile(folder), { force: true })
  await removeTree(folder)
}

/** Names git's user, without which ssh does not run. Stands beside the folder, where root alone writes. */
export const namesFile = (folder: string): string => `${folder}.passwd`

const filesFor = (remote: Remote): [string, string][] => {
  if (remote.kind === 'ssh') return Object.entries(sshFiles(remote))
  return remote.authority === undefined ? [] : [[AUTHORITY_FILE, remote.authority]]
}

async function giveFile(path: string, content: string, uid: number): Promise<void> {
  await writeFile(path, content, { mode: USERS_ALONE_TO_READ })
  if (isRoot) await chown(path, uid, uid)
}

/** At a start: removes what fetches left whose process died, and git with it. */
export async function sweepFetches({ fetches }: Pick<Paths, 'fetches'>): Promise<void> {
  for (const name of await readdir(fetches)) await removeTree(join(fetches, name))
}
