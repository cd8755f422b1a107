/**
 * The files of a disk. Everything new is made beside what is there, under a name of its own, and takes its place by a rename: whoever is
 * killed leaves either the old or the new, and something unfinished that the next one removes.
 *
 * The space of an image is taken in full, so that its file system is full at its size and never for the server's sake.
 */
import { existsSync } from 'node:fs'
import { chmod, mkdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { IMAGE_ROOT } from '../../engines/process/spec.ts'
import { removeTree } from '../../platform/files/tree/remove.ts'
import type { Paths } from '../../platform/paths.ts'
import { ensureFolder } from '../../platform/service-folders.ts'
import { copyFolder } from './copy-folder.ts'
import { type DiskPaths, diskPathsOf } from './paths.ts'
import { bytesOf } from './rules.ts'
import type { StoredDisk } from './store.ts'
import { runTool } from './tools.ts'

const PASS_THROUGH = 0o710
const ROOTS_ALONE = 0o700
const USERS_ALONE = 0o700

const FRESH = '.new'
const READY = '.ready'

export const contentOf = (disk: Pick<StoredDisk, 'isImage'>, paths: DiskPaths): string => (disk.isImage ? paths.image : paths.folder)

export async function makeStorage(paths: Paths, disk: StoredDisk): Promise<void> {
  const own = diskPathsOf(paths, disk.id)
  if (existsSync(contentOf(disk, own))) return
  await removeTree(own.root)
  try {
    await layStorage(own, disk)
  } catch (error) {
    await removeTree(own.root)
    throw error
  }
}

async function layStorage(own: DiskPaths, disk: StoredDisk): Promise<void> {
  await ensureFolder(own.root, PASS_THROUGH, { uid: 0, gid: disk.uid })
  for (const folder of [own.snapshots, own.mountPoint]) await ensureFolder(folder, ROOTS_ALONE, { uid: 0, gid: 0 })
  const fresh = `${contentOf(disk, own)}${FRESH}`
  if (disk.isImage) await makeImage(fresh, disk)
  else await ensureFolder(fresh, USERS_ALONE, { uid: disk.uid, gid: disk.uid })
  await rename(fresh, contentOf(disk, own))
}

async function makeImage(image: string, { sizeGb, uid }: StoredDisk): Promise<void> {
  const skeleton = join(dirname(image), `skeleton${FRESH}`)
  await mkdir(skeleton, { recursive: true, mode: 0o755 })
  await ensureFolder(join(skeleton, IMAGE_ROOT), USERS_ALONE, { uid, gid: uid })
  await reserve(image, sizeGb)
  await runTool(['mkfs.ext4', '-q', '-F', '-m', '0', '-E', 'lazy_itable_init=1,lazy_journal_init=1,nodiscard', '-d', skeleton, image])
  await removeTree(skeleton)
}

async function reserve(image: string, sizeGb: number): Promise<void> {
  await runTool(['fallocate', '--length', String(bytesOf(sizeGb)), image])
  await chmod(image, 0o600)
}

/** Grows the file system of a disk that nothing uses. @throws AppError when there is no room, and then the old size stays. */
export async function growStorage(paths: Paths, disk: StoredDisk, sizeGb: number): Promise<void> {
  if (!disk.isImage) return
  const { image } = diskPathsOf(paths, disk.id)
  try {
    await reserve(image, sizeGb)
  } catch (error) {
    // The image may have got a part, which its file system knows nothing of yet.
    await runTool(['truncate', '--size', String(bytesOf(disk.sizeGb)), image])
    throw error
  }
  await fillImage(image)
}

async function fillImage(image: string): Promise<void> {
  await checkImage(image, ['-f', '-p'])
  await runTool(['resize2fs', image])
}

export async function checkImage(image: string, how: readonly string[] = ['-p']): Promise<void> {
  await runTool(['e2fsck', ...how, image], { accepted: [0, 1] })
}

/** The copy has the same bytes, modes, owners, links and holes. It is there when it is complete, or not at all. */
export async function copyContent(
  { isImage }: Pick<StoredDisk, 'isImage'>,
  { from, to, signal }: { from: string; to: string; signal?: AbortSignal },
): Promise<void> {
  const fresh = `${to}${FRESH}`
  const options = signal === undefined ? {} : { signal }
  await removeTree(fresh)
  try {
    if (isImage) await copyImage(from, fresh, options)
    else await copyFolder(from, fresh, options)
    await runTool(['sync', ...(isImage ? [] : ['--file-system']), fresh], options)
    await rename(fresh, to)
  } catch (error) {
    await removeTree(fresh)
    throw error
  }
}

async function copyImage(from: string, to: string, options: { signal?: AbortSignal }): Promise<void> {
  const isCloned = await canBeDone(() => runTool(['cp', '--archive', '--reflink=always', '--', from, to], options), options.signal)
  if (isCloned) return
  await rm(to, { force: true })
  // The image may be mounted; the caller sees to it that nothing changes meanwhile.
  await runTool(['e2image', '-r', '-a', '-f', from, to], options)
}

async function canBeDone(act: () => Promise<unknown>, signal: AbortSignal | undefined): Promise<boolean> {
  try {
    await act()
    return true
  } catch {
    signal?.throwIfAborted()
    return false
  }
}

/** Today's content becomes the snapshot `replaced`. When that is there already, all that can be left to do is the last rename. */
export async function restoreStorage(paths: Paths, disk: StoredDisk, keys: { snapshot: string; replaced: string }): Promise<void> {
  const own = diskPathsOf(paths, disk.id)
  const content = contentOf(disk, own)
  const replaced = join(own.snapshots, keys.replaced)
  const ready = `${content}${READY}`
  if (!existsSync(replaced)) {
    if (!existsSync(ready)) await prepareRestore(paths, disk, keys.snapshot)
    await rename(content, replaced)
  }
  if (!existsSync(content)) await rename(ready, content)
}

export async function prepareRestore(paths: Paths, disk: StoredDisk, snapshotKey: string): Promise<void> {
  const own = diskPathsOf(paths, disk.id)
  const ready = `${contentOf(disk, own)}${READY}`
  const snapshot = join(own.snapshots, snapshotKey)
  await removeTree(ready)
  await copyContent(disk, { from: snapshot, to: ready })
  if (!disk.isImage) return
  try {
    // The disk may have grown since, and a copy of an image has holes where its space was.
    await reserve(ready, disk.sizeGb)
    await fillImage(ready)
  } catch (error) {
    await rm(ready, { force: true })
    throw error
  }
}

export async function removeSnapshotFiles(paths: Paths, diskId: string, key: string): Promise<void> {
  const { snapshots } = diskPathsOf(paths, diskId)
  for (const path of [join(snapshots, key), join(snapshots, `${key}${FRESH}`)]) await removeTree(path)
}

export async function sizeOnServer(path: string): Promise<number> {
  return Number((await runTool(['du', '--summarize', '--block-size=1', '--', path])).split('\t')[0])
}
