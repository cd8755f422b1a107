import { existsSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import { setAside } from '../../platform/files/set-aside.ts'
import { removeTree } from '../../platform/files/tree/remove.ts'
import { type Paths, servicePathsOf } from '../../platform/paths.ts'
import { measureFolders } from '../../platform/process/measure-folders.ts'
import type { RuntimeSettings } from '../settings.ts'
import { requireRoom } from '../space/room.ts'
import { hashTree } from './content-hash.ts'
import type { ArtifactsOf } from './port.ts'

interface Given {
  paths: Paths
  config: Pick<RuntimeSettings, 'CP_DISK_RESERVE_MB'>
}

const need = { what: 'the release', advice: 'Its operator has to free some. Deploy again when that is done.' }

export const releaseFolder = (paths: Paths, serviceId: string, digest: string): string =>
  join(servicePathsOf(paths, serviceId).releases, digest)

/** Artifacts in folders of this machine, among those of their service. What is built in is a folder of the same file system. */
export function createReleaseFolders({ paths, config }: Given): ArtifactsOf<string> {
  const folder = (serviceId: string, digest: string) => releaseFolder(paths, serviceId, digest)
  return {
    folder,
    has: (serviceId, digest) => existsSync(folder(serviceId, digest)),
    async keep(serviceId, built, signal) {
      requireRoom({ paths, config }, need)
      const digest = await hashTree(built, { signal })
      await rename(built, folder(serviceId, digest)).catch((error: unknown) => {
        if (!isOccupied(error)) throw error
      })
      return digest
    },
    async sizes(serviceIds, unit, signal) {
      const folderOf = (serviceId: string) => servicePathsOf(paths, serviceId).releases
      const sizes = await measureFolders(serviceIds.map(folderOf), unit, signal)
      return new Map(serviceIds.flatMap((id) => pairOf(id, sizes.get(folderOf(id)))))
    },
    async prune(serviceId, kept) {
      const { releases, trash } = servicePathsOf(paths, serviceId)
      for (const path of setAside(releases, trash, (name) => kept.has(name))) await removeTree(path)
    },
  }
}

const isOccupied = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOTEMPTY' || error.code === 'EEXIST')

const pairOf = (id: string, size: number | undefined): [string, number][] => (size === undefined ? [] : [[id, size]])
