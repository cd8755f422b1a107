/**
 * Volumes are made beside what is there, under a name of their own, and take their place by a rename: whoever is killed leaves either
 * nothing or all, and something unfinished that the next one removes.
 */
import { existsSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import { removeTree } from '../../../platform/files/tree/remove.ts'
import { ensureFolder, isRoot } from '../../../platform/service-folders.ts'
import { IMAGE_ROOT } from '../spec.ts'
import { makeImage } from './image.ts'
import { withMountedImage } from './mounted-image.ts'
import { FRESH, isImageAt, type VolumePlaces } from './places.ts'
import { runTool } from './tools.ts'

const PASS_THROUGH = 0o710
const ROOTS_ALONE = 0o700
const USERS_ALONE = 0o700

interface Made {
  isImage: boolean
  sizeGb: number
  uid: number
}

export async function layVolume(places: VolumePlaces, made: Made): Promise<void> {
  const content = made.isImage ? places.image : places.folder
  if (existsSync(content)) return
  await removeTree(places.root)
  try {
    await ensureFolder(places.root, PASS_THROUGH, { uid: 0, gid: made.uid })
    for (const folder of [places.snapshots, places.mountPoint]) await ensureFolder(folder, ROOTS_ALONE, { uid: 0, gid: 0 })
    await layContent(`${content}${FRESH}`, made)
    await rename(`${content}${FRESH}`, content)
  } catch (error) {
    await removeTree(places.root)
    throw error
  }
}

async function layContent(fresh: string, { isImage, uid, ...size }: Made): Promise<void> {
  if (isImage) await makeImage(fresh, { ...size, uid })
  else await ensureFolder(fresh, USERS_ALONE, { uid, gid: uid })
}

export async function giveVolume(places: VolumePlaces, uid: number): Promise<void> {
  if (!isRoot) return
  const { root, folder, image, mountPoint } = places
  const giveTo = (path: string) => ['chown', '--recursive', '--no-dereference', `${uid}:${uid}`, path]
  await runTool(['chgrp', String(uid), root])
  if (!isImageAt(places)) await runTool(giveTo(folder))
  else await withMountedImage({ source: image, mountPoint }, ({ run }) => run(giveTo(`${mountPoint}/${IMAGE_ROOT}`)))
}
