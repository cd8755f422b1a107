import { readdirSync } from 'node:fs'
import { servicePathsOf } from '../../platform/paths.ts'
import { measureFolders } from '../../platform/process/measure-folders.ts'
import type { Unit } from '../../runtime/space/reserve.ts'
import type { AppContext } from '../context.ts'
import { pruneReleases } from '../deploys/prune.ts'

/** Less than this is not worth a rollback that can then not be made. */
const WORTH: Record<Unit, number> = { bytes: 1024 * 1024, files: 100 }

/**
 * Returns whether removing what is kept for the service that has most gave anything back. The history that was pushed to one counts in what it
 * has, and stays: nobody else may have it.
 */
export async function clearUpAfterFullest(context: AppContext, unit: Unit): Promise<boolean> {
  const before = await keptOf(context, unit)
  for (const [id, held] of [...before].toSorted(([, a], [, b]) => b - a)) {
    if (held < WORTH[unit]) return false
    context.stopping.throwIfAborted()
    await pruneReleases({ ...context, config: { ...context.config, CP_RELEASES_KEPT: 1 } }, id)
    const freed = held - ((await keptOf(context, unit, [id])).get(id) ?? 0)
    if (freed < WORTH[unit]) continue
    context.log.error('uploads and releases of a service were removed, as the disk is short', { serviceId: id, freed, unit })
    return true
  }
  return false
}

async function keptOf(context: AppContext, unit: Unit, ids = readdirSync(context.paths.services)): Promise<Map<string, number>> {
  const foldersOf = (id: string) => {
    const { sources, builds, git } = servicePathsOf(context.paths, id)
    return [sources, builds, git]
  }
  const artifacts = await context.artifacts.sizes(ids, unit, context.stopping)
  const sizes = await measureFolders(ids.flatMap(foldersOf), unit, context.stopping)
  return new Map(ids.map((id) => [id, foldersOf(id).reduce((sum, folder) => sum + (sizes.get(folder) ?? 0), artifacts.get(id) ?? 0)]))
}
