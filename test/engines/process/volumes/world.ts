import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { VolumeKindName } from '../../../../server/engines/port/volumes.ts'
import { placesOf, type VolumePlaces } from '../../../../server/engines/process/volumes/places.ts'
import { openVolumes, type ProcessVolumes, type Room } from '../../../../server/engines/process/volumes/volumes.ts'
import { runSystemTool } from '../../../../server/platform/process/system-tools.ts'
import type { VolumesWorld } from '../../volumes-world.ts'

/** A machine that always has room. */
export const ampleRoom: Room = {
  bytes: () => Number.POSITIVE_INFINITY,
  whileThereIs: (_, act) => act(new AbortController().signal),
}

/** The user of the volumes made here. */
export const UID = 61_500

export interface ProcessVolumesWorld extends VolumesWorld {
  open(room?: Room): Promise<ProcessVolumes>
  placesOf(id: string): VolumePlaces
  /** Makes a volume, and tells where it is. */
  make(volumes: ProcessVolumes): Promise<{ id: string; places: VolumePlaces }>
}

/** A folder of volumes on this machine, all of one kind. */
export function makeVolumesWorld(kind: VolumeKindName): ProcessVolumesWorld {
  const dir = mkdtempSync(join(tmpdir(), 'volumes-'))
  const disks = join(dir, 'disks')
  mkdirSync(disks)
  let count = 0
  const held: string[] = []
  const places = (id: string) => placesOf(disks, id)
  const newVolume: VolumesWorld['newVolume'] = (changes = {}) => {
    const id = `dsk-${String(++count).padStart(20, '0')}`
    return { id, owner: { id: 'srv-one', number: UID }, sizeGb: 1, kind, ...changes }
  }
  return {
    open: async (room = ampleRoom) => openVolumes({ dir: disks, mounts: kind === 'image' ? 'images' : 'folders', needed: [dir], room }),
    placesOf: places,
    newVolume,
    async make(volumes) {
      const volume = newVolume()
      await volumes.make(volume)
      return { id: volume.id, places: places(volume.id) }
    },
    async write(id, name, text) {
      const { image, folder } = places(id)
      if (kind === 'folder') return writeFileSync(join(folder, name), text)
      const source = join(dir, 'source')
      writeFileSync(source, text)
      await runSystemTool(['debugfs', '-w', '-R', `rm data/${name}`, image])
      await runSystemTool(['debugfs', '-w', '-R', `write ${source} data/${name}`, image])
    },
    async read(id, name) {
      const { image, folder } = places(id)
      if (kind === 'folder') return existsSync(join(folder, name)) ? readFileSync(join(folder, name), 'utf8') : undefined
      return (await runSystemTool(['debugfs', '-R', `cat data/${name}`, image])) || undefined
    },
    async hold(id) {
      // What is in a folder is in use by whoever has a workload, which the caller knows.
      if (kind === 'folder') return undefined
      const device = (await runSystemTool(['losetup', '--find', '--show', places(id).image])).trim()
      held.push(device)
      return async () => void (await runSystemTool(['losetup', '--detach', held.splice(held.indexOf(device), 1)[0] ?? '']))
    },
    async dispose() {
      for (const device of held) await runSystemTool(['losetup', '--detach', device])
      rmSync(dir, { recursive: true, force: true })
    },
  }
}
