import { readdir, rm, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { Context } from '../context.ts'
import { instancesOf } from '../instances/store.ts'
import { servicePathsOf } from '../paths.ts'
import { deleteSource, listSources, sourceFile } from '../sources/store.ts'
import { deleteRelease, listReleases } from './release-store.ts'
import { everLive, type StoredDeploy, unfinishedDeploys } from './store.ts'

/** Which releases a rollback can still go back to: those of the newest deploys that were live, each counted once. */
export function keptReleaseIds(live: readonly Pick<StoredDeploy, 'releaseId'>[], count: number): Set<string> {
  const ids = live.map((deploy) => deploy.releaseId).filter((id) => id !== null)
  return new Set([...new Set(ids)].slice(0, count))
}

type Pruner = Pick<Context, 'db' | 'paths' | 'config'>

/** Removes releases beyond the newest kept, built files nobody points to, sources no longer needed, and left-over build folders. */
export async function pruneReleases(context: Pruner, serviceId: string): Promise<void> {
  const kept = removeOldRows(context, serviceId)
  const own = servicePathsOf(context.paths, serviceId)
  await removeOthers(own.releases, kept.artifacts)
  await removeOthers(own.builds, kept.builds)
  await removeOthers(own.secrets, kept.secrets)
  await removeOldSources(context, serviceId, kept.sources)
}

interface Kept {
  artifacts: Set<string>
  builds: Set<string>
  secrets: Set<string>
  sources: Set<string>
}

function removeOldRows({ db, config }: Pruner, serviceId: string): Kept {
  return db.transaction(() => {
    const unfinished = unfinishedDeploys(db, serviceId)
    const running = instancesOf(db, serviceId).map((instance) => instance.releaseId)
    const wanted = new Set([
      ...keptReleaseIds(everLive(db, serviceId), config.CP_RELEASES_KEPT),
      ...unfinished.map((deploy) => deploy.releaseId),
      ...running,
    ])
    const releases = listReleases(db, serviceId)
    const kept = releases.filter((release) => wanted.has(release.id))
    for (const release of releases) if (!wanted.has(release.id)) deleteRelease(db, release.id)
    return {
      artifacts: new Set(kept.map((release) => release.artifact)),
      builds: new Set(unfinished.map((deploy) => deploy.id)),
      secrets: new Set(running),
      sources: new Set([...kept.map((release) => release.sourceId), ...unfinished.map((deploy) => deploy.sourceId ?? '')]),
    }
  })()
}

async function removeOthers(folder: string, kept: ReadonlySet<string>): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    if (!kept.has(name)) await rm(join(folder, name), { recursive: true, force: true })
  }
}

/** The newest source stays, too: the next deploy is made of it. */
async function removeOldSources({ db, paths }: Pruner, serviceId: string, kept: ReadonlySet<string>): Promise<void> {
  const [, ...older] = listSources(db, serviceId)
  for (const source of older.filter(({ id }) => !kept.has(id))) {
    await unlink(sourceFile(paths, source)).catch(() => undefined)
    deleteSource(db, source.id)
  }
}
