import { existsSync, statSync } from 'node:fs'
import { type Paths, servicePathsOf } from '../../../platform/paths.ts'
import type { SizeUnit } from '../../../platform/process/folder-size.ts'
import { measureFolders } from '../../../platform/process/measure-folders.ts'
import type { HeldSpace } from '../../port/port.ts'
import type { Owner } from '../../port/workload.ts'
import { measureRemoved } from './removed-files.ts'

interface Asked {
  owners: readonly Owner[]
  unit: SizeUnit
  signal: AbortSignal
  layersOf(ownerId: string): string[]
}

export async function heldSpaceOf(paths: Paths, { owners, unit, signal, layersOf }: Asked): Promise<Map<string, HeldSpace>> {
  const asked = owners.map(({ id, number }) => ({ id, number, folders: foldersOf(paths, id).concat(layersOf(id)) }))
  const sizes = await measureFolders(
    asked.flatMap(({ folders }) => folders),
    unit,
    signal,
  )
  const removed = unit === 'bytes' ? removedOf(paths, owners) : new Map<number, number>()
  return new Map(
    asked.map(({ id, number, folders }) => {
      const amount = folders.reduce((sum, folder) => sum + (sizes.get(folder) ?? 0), removed.get(number) ?? 0)
      // A layer goes with its workload, also while it is measured.
      return [id, { amount, isPartial: folders.some((folder) => !sizes.has(folder) && existsSync(folder)) }]
    }),
  )
}

function foldersOf(paths: Paths, ownerId: string): string[] {
  const { home, tmp, output } = servicePathsOf(paths, ownerId)
  return [home, tmp, output]
}

const removedOf = ({ services }: Paths, owners: readonly Owner[]): Map<number, number> =>
  measureRemoved(new Set(owners.map(({ number }) => number)), { device: statSync(services).dev, folder: services })
