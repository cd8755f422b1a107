/** An image is a file with an ext4 file system. Its space is taken in full, so that it is full at its size and never for the server's sake. */
import { chmod, mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { bytesOf } from '../../../../shared/disk.ts'
import { removeTree } from '../../../platform/files/tree/remove.ts'
import { ensureFolder } from '../../../platform/service-folders.ts'
import { IMAGE_ROOT } from '../spec.ts'
import { FRESH } from './places.ts'
import { runTool } from './tools.ts'

const USERS_ALONE = 0o700

export async function makeImage(image: string, { sizeGb, uid }: { sizeGb: number; uid: number }): Promise<void> {
  const skeleton = join(dirname(image), `skeleton${FRESH}`)
  await mkdir(skeleton, { recursive: true, mode: 0o755 })
  await ensureFolder(join(skeleton, IMAGE_ROOT), USERS_ALONE, { uid, gid: uid })
  await reserve(image, sizeGb)
  await runTool(['mkfs.ext4', '-q', '-F', '-m', '0', '-E', 'lazy_itable_init=1,lazy_journal_init=1,nodiscard', '-d', skeleton, image])
  await removeTree(skeleton)
}

/** Takes all of an image's space. @throws AppError when there is no room. */
export async function reserve(image: string, sizeGb: number): Promise<void> {
  await runTool(['fallocate', '--length', String(bytesOf(sizeGb)), image])
  await chmod(image, 0o600)
}

/** Makes the file of an image larger. @throws AppError when there is no room, and then its former size stays. */
export async function enlargeFile(image: string, { fromGb, toGb }: { fromGb: number; toGb: number }): Promise<void> {
  try {
    await reserve(image, toGb)
  } catch (error) {
    // The image may have got a part, which its file system knows nothing of yet, unless a growth that failed late has left a larger one.
    const kept = Math.max(bytesOf(fromGb), await fileSystemBytes(image))
    await runTool(['truncate', '--size', String(kept), image])
    throw error
  }
}

/** Offsets in a superblock, which begins at 1024 (Documentation/filesystems/ext4/super.rst). */
const SUPERBLOCK = { at: 1024, bytes: 1024, blocksLow: 0x4, blockSizeLog: 0x18, blocksHigh: 0x150 }
const SMALLEST_BLOCK = 1024

async function fileSystemBytes(image: string): Promise<number> {
  const { at, bytes, blocksLow, blockSizeLog, blocksHigh } = SUPERBLOCK
  const view = new DataView(
    await Bun.file(image)
      .slice(at, at + bytes)
      .arrayBuffer(),
  )
  const blocks = view.getUint32(blocksLow, true) + view.getUint32(blocksHigh, true) * 2 ** 32
  return blocks * SMALLEST_BLOCK * 2 ** view.getUint32(blockSizeLog, true)
}

export async function fillImage(image: string): Promise<void> {
  await checkImage(image, ['-f', '-p'])
  await runTool(['resize2fs', image])
}

/** Repairs what a machine that went down left unfinished. @throws AppError when a person has to. */
export async function checkImage(image: string, how: readonly string[] = ['-p']): Promise<void> {
  await runTool(['e2fsck', ...how, image], { accepted: [0, 1] })
}
