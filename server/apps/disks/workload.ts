import { AppError } from '../../../shared/error.ts'
import type { DiskMount } from '../../engines/port/port.ts'
import type { AppContext } from '../context.ts'
import { loopDeviceOf } from './loop-device.ts'
import { diskPathsOf } from './paths.ts'
import { checkImage, contentOf } from './storage.ts'
import { diskOfService, isPreparingRestore, type StoredDisk } from './store.ts'

export interface DiskOfInstance {
  sandbox: { disk?: DiskMount }
  env: { CPD_DISK_PATH?: string }
}

/**
 * The disk of an instance about to start, repaired after a loss of power.
 * @throws AppError unavailable while it is changed, is damaged, or cannot be mounted here.
 */
export async function diskForInstance(context: Pick<AppContext, 'db' | 'paths' | 'engine'>, serviceId: string): Promise<DiskOfInstance> {
  const disk = diskOfService(context.db, serviceId)
  if (disk === undefined) return { sandbox: {}, env: {} }
  if (disk.status !== 'available' && !isPreparingRestore(disk))
    throw new AppError('unavailable', `The disk ${disk.name} is ${disk.status}.`)
  const source = contentOf(disk, diskPathsOf(context.paths, disk.id))
  if (disk.isImage) await makeSound(context, disk, source)
  const env = { CPD_DISK_PATH: diskPathOf(context, disk) }
  return context.engine.mountsDisks === 'nowhere'
    ? { sandbox: {}, env }
    : { sandbox: { disk: { source, isImage: disk.isImage, target: disk.mountPath } }, env }
}

export function diskEnv(context: Pick<AppContext, 'db' | 'paths' | 'engine'>, serviceId: string): DiskOfInstance['env'] {
  const disk = diskOfService(context.db, serviceId)
  return disk === undefined ? {} : { CPD_DISK_PATH: diskPathOf(context, disk) }
}

function diskPathOf({ paths, engine }: Pick<AppContext, 'paths' | 'engine'>, disk: StoredDisk): string {
  return engine.mountsDisks === 'nowhere' ? diskPathsOf(paths, disk.id).folder : disk.mountPath
}

async function makeSound({ engine }: Pick<AppContext, 'engine'>, disk: StoredDisk, image: string): Promise<void> {
  if (engine.mountsDisks !== 'images')
    throw new AppError(
      'unavailable',
      `The disk ${disk.name} is a file system in a file, which this machine cannot mount any more. See cpd doctor.`,
    )
  if (loopDeviceOf(image) === undefined) await checkImage(image)
}
