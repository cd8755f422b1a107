import { AppError } from '../../../shared/error.ts'
import type { Workload } from '../../engines/port/workload.ts'
import type { AppContext } from '../context.ts'
import { diskOfService, isPreparingRestore, type StoredDisk } from './store.ts'

export type DiskOfInstance = Pick<Workload, 'volume'>

/** @throws AppError unavailable while the disk is changed, and when the engine cannot give it to anybody any more. */
export function diskForInstance({ db, engine }: Pick<AppContext, 'db' | 'engine'>, serviceId: string): DiskOfInstance {
  const disk = diskOfService(db, serviceId)
  if (disk === undefined) return {}
  if (disk.status !== 'available' && !isPreparingRestore(disk))
    throw new AppError('unavailable', `The disk ${disk.name} is ${disk.status}.`)
  if (engine.volumes.capabilities.kinds.every(({ name }) => name !== disk.kind))
    throw new AppError(
      'unavailable',
      `The disk ${disk.name} is ${KINDS[disk.kind]}, which this machine cannot mount any more. See cpd doctor.`,
    )
  return volumeOf(disk)
}

const KINDS: Record<StoredDisk['kind'], string> = { image: 'a file system in a file', folder: 'a folder' }

export const volumeOf = (disk: StoredDisk): DiskOfInstance => ({ volume: mountOf(disk) })

const mountOf = ({ id, mountPath }: StoredDisk) => ({ volumeId: id, mountPath })

export function diskEnv({ db, engine }: Pick<AppContext, 'db' | 'engine'>, serviceId: string): { CPD_DISK_PATH?: string } {
  const disk = diskOfService(db, serviceId)
  return disk === undefined ? {} : { CPD_DISK_PATH: engine.volumes.pathOf(mountOf(disk)) }
}
