import { chmod, copyFile, link, lstat, mkdir, readdir, readlink, rename, rm, stat, symlink } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { ensureStandIns, STAND_IN_DIR } from './stand-in.ts'

const NAMES = ['bun', 'bunx', 'node']
const FILE_PREFIX = 'runtime-'

/**
 * Puts our own executable into `dir` under the names `bun`, `bunx` and `node`; with BUN_BE_BUN=1 it acts as each of them. Its file carries size
 * and time in its name and links are swapped in one step, so running apps keep the one they were started with across an upgrade.
 */
export async function ensureSelfToolchain({ dir, executable }: { dir: string; executable: string }): Promise<string> {
  await mkdir(dir, { recursive: true, mode: 0o755 })
  await chmod(dir, 0o755)
  const { size, mtimeMs } = await stat(executable)
  const file = `${FILE_PREFIX}${size}-${Math.trunc(mtimeMs)}`
  if (!(await exists(join(dir, file)))) await placeExecutable(executable, dir, file)
  for (const name of NAMES) await pointLink(join(dir, name), file)
  await removeOthers(dir, file)
  await ensureStandIns(dir)
  return dir
}

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  )
}

async function placeExecutable(executable: string, dir: string, file: string): Promise<void> {
  const incoming = join(dir, `incoming-${crypto.randomUUID()}`)
  try {
    // A hard link costs nothing, but only works within one file system and for a file that others may run.
    await linkWhereUsable(executable, incoming)
    await rename(incoming, join(dir, file))
  } finally {
    await rm(incoming, { force: true })
  }
}

const RUN_BY_OTHERS = 0o005

async function linkWhereUsable(executable: string, target: string): Promise<void> {
  const { mode } = await stat(executable)
  if ((mode & RUN_BY_OTHERS) === RUN_BY_OTHERS && (await tryLink(executable, target))) return
  await copyFile(executable, target)
  await chmod(target, 0o755)
}

async function tryLink(executable: string, target: string): Promise<boolean> {
  return link(executable, target).then(
    () => true,
    () => false,
  )
}

async function pointLink(path: string, file: string): Promise<void> {
  const current = await readlink(path).catch(() => undefined)
  if (current === file) return
  const incoming = `${path}-${crypto.randomUUID()}`
  await symlink(file, incoming)
  await rename(incoming, path)
}

async function removeOthers(dir: string, file: string): Promise<void> {
  for (const name of await readdir(dir)) {
    if (name === file || name === STAND_IN_DIR || NAMES.includes(basename(name))) continue
    await rm(join(dir, name), { recursive: true, force: true })
  }
}
