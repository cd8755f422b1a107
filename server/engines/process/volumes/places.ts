import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { checkPlainId } from '../../port/check-spec.ts'

/** Folders and files of one volume. Only root writes beside the content. */
export interface VolumePlaces {
  root: string
  image: string
  folder: string
  snapshots: string
  /** Where the image is mounted for us, in a namespace of its own: in the machine's it is always empty. */
  mountPoint: string
}

/** What is being made beside its place, and what is ready to be put there. */
export const FRESH = '.new'
export const READY = '.ready'

/** @throws AppError `validation_failed` for what is no id. */
export function placesOf(dir: string, volumeId: string): VolumePlaces {
  checkPlainId(volumeId)
  const root = join(dir, volumeId)
  return {
    root,
    image: join(root, 'image'),
    folder: join(root, 'data'),
    snapshots: join(root, 'snapshots'),
    mountPoint: join(root, 'mount'),
  }
}

/** @throws AppError `validation_failed` for what is no key. */
export function snapshotIn({ snapshots }: VolumePlaces, key: string): string {
  checkPlainId(key)
  return join(snapshots, key)
}

/** Whether a volume is an image. In the middle of a restore its content is not in its place, and what is ready for it is. */
export const isImageAt = ({ image }: VolumePlaces): boolean => existsSync(image) || existsSync(`${image}${READY}`)

export const contentOf = (places: VolumePlaces): string => (isImageAt(places) ? places.image : places.folder)
