import { AppError } from '../../../shared/error.ts'
import type { Workload } from '../../engines/port/workload.ts'
import type { Paths } from '../../platform/paths.ts'
import type { AppContext } from '../context.ts'
import { loopDeviceOf } from './loop-device.ts'
import { diskPathsOf } from './paths.ts'
import { checkImage, contentOf } from './storage.ts'
import { diskOfService, isPreparingRestore, type StoredDisk } from './store.ts'

/** What an instance is given of its service's disk; nothing where there is none. */
export type DiskOfInstance = Pick<Workload, 'volume'>

/** @throws AppError unavailable while the disk is changed, when it is damaged, or when this machine cannot mount it. */
export async function diskForInstance(context: Pick<AppContext, 'db' | 'paths' | 'engine'>, serviceId: string): Promise<DiskOfInstance> {
  const disk = diskOfService(context.db, serviceId)
  if (disk === undefined) return {}
  if (disk.status !== 'available' && !isPreparingRestore(disk))
    throw new AppError('unavailable', `The disk ${disk.name} is ${disk.status}.`)
  const source = contentOf(disk, diskPathsOf(context.paths, disk.id))
  if (disk.isImage) await makeSound(context, disk, source)
  return volumeOf(disk)
}

/** The volume of a disk, as the engine is told of it. */
export const volumeOf = ({ id, mountPath }: StoredDisk): DiskOfInstance => ({ volume: { volumeId: id, mountPath } })

/** What people are told of where instances find the disk. */
export function diskEnv(context: Pick<AppContext, 'db' | 'paths' | 'engine'>, serviceId: string): { CPD_DISK_PATH?: string } {
  const disk = diskOfService(context.db, serviceId)
  return disk === undefined ? {} : { CPD_DISK_PATH: diskPathOf(context, disk) }
}

function diskPathOf({ paths, engine }: Pick<AppContext, 'paths' | 'engine'>, disk: StoredDisk): string {
  return engine.capabilities.volumes === 'nowhere' ? diskPathsOf(paths, disk.id).folder : disk.mountPath
}

async function makeSound({ engine }: Pick<AppContext, 'engine'>, disk: StoredDisk, image: string): Promise<void> {
  if (engine.capabilities.volumes !== 'images')
    throw new AppError(
      'unavailable',
      `The disk ${disk.name} is a file system in a file, which this machine cannot mount any more. See cpd doctor.`,
    )
  if (loopDeviceOf(image) === undefined) await checkImage(image)
}

/** Where the content of a disk is on this machine. @throws AppError not_found for one that is gone. */
export function placeOfDisk(paths: Pick<Paths, 'disks'>, disk: StoredDisk | undefined): { source: string; isImage: boolean } {
  if (disk === undefined) throw new AppError('not_found', 'The disk is gone.')
  return { source: contentOf(disk, diskPathsOf(paths, disk.id)), isImage: disk.isImage }
}
