import { rename, rm } from 'node:fs/promises'
import { removeTree } from '../../../platform/files/tree/remove.ts'
import { copyFolder } from './copy-folder.ts'
import { FRESH } from './places.ts'
import { runTool } from './tools.ts'

export interface Copy {
  from: string
  to: string
  isImage: boolean
  signal?: AbortSignal
  /** Asked when all has been copied: whether nothing has changed what was copied meanwhile. */
  isStill?(): boolean
}

/** Copies bytes, modes, owners, links and holes, complete or not at all. @returns whether it was made; not where the content did not keep still. */
export async function copyContent({ from, to, isImage, isStill = () => true, ...given }: Copy): Promise<boolean> {
  const fresh = `${to}${FRESH}`
  const options = given.signal === undefined ? {} : { signal: given.signal }
  await removeTree(fresh)
  try {
    if (isImage) await copyImage(from, fresh, options)
    else await copyFolder(from, fresh, options)
    if (!isStill()) {
      await removeTree(fresh)
      return false
    }
    await runTool(['sync', ...(isImage ? [] : ['--file-system']), fresh], options)
    await rename(fresh, to)
    return true
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

export async function bytesAt(path: string): Promise<number> {
  return Number((await runTool(['du', '--summarize', '--block-size=1', '--', path])).split('\t')[0])
}
