import { existsSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { removeTree } from '../../../platform/files/tree/remove.ts'
import { copyContent } from './copy.ts'
import { fillImage, reserve } from './image.ts'
import { contentOf, isImageAt, READY, snapshotIn, type VolumePlaces } from './places.ts'

interface Restore {
  key: string
  sizeGb: number
}

export async function readyRestore(places: VolumePlaces, { key, sizeGb }: Restore): Promise<void> {
  const isImage = isImageAt(places)
  const ready = `${contentOf(places)}${READY}`
  await removeTree(ready)
  await copyContent({ from: snapshotIn(places, key), to: ready, isImage })
  if (!isImage) return
  try {
    // The volume may have grown since, and a copy of an image has holes where its space was.
    await reserve(ready, sizeGb)
    await fillImage(ready)
  } catch (error) {
    await rm(ready, { force: true })
    throw error
  }
}

/** Today's content becomes the snapshot `keepAs`. When that is there already, all that can be left to do is the last rename. */
export async function putRestored(places: VolumePlaces, { keepAs, ...restore }: Restore & { keepAs: string }): Promise<void> {
  const content = contentOf(places)
  const ready = `${content}${READY}`
  const kept = snapshotIn(places, keepAs)
  if (!existsSync(kept)) {
    if (!existsSync(ready)) await readyRestore(places, restore)
    await rename(content, kept)
  }
  if (!existsSync(content)) await rename(ready, content)
}
