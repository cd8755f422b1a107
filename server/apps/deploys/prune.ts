import { join } from 'node:path'
import { namesIn, setAside } from '../../platform/files/set-aside.ts'
import { removeTree } from '../../platform/files/tree/remove.ts'
import { servicePathsOf } from '../../platform/paths.ts'
import { hasStrays } from '../../runtime/workloads/strays.ts'
import type { AppContext } from '../context.ts'
import { deleteSource, listSources } from '../sources/store.ts'
import { instancesOf } from '../workloads/instance-store.ts'
import { openJobs } from '../workloads/job-store.ts'
import { deleteRelease, listReleases } from './release-store.ts'
import { everLive, type StoredDeploy, unfinishedDeploys } from './store.ts'

/** Which releases a rollback can still go back to: those of the newest deploys that were live, each counted once. */
export function keptReleaseIds(live: readonly Pick<StoredDeploy, 'releaseId'>[], count: number): Set<string> {
  const ids = live.map((deploy) => deploy.releaseId).filter((id) => id !== null)
  return new Set([...new Set(ids)].slice(0, count))
}

type Pruner = Pick<AppContext, 'db' | 'paths' | 'config' | 'artifacts'>

/**
 * What goes is decided and moved aside in one turn of the event loop, so a deploy, restart or upload that begins meanwhile finds all of
 * what it needs, or nothing of it, never a part. Nothing goes while there are strays of the service: what they run in is in no row.
 */
export async function pruneReleases(context: Pruner, serviceId: string): Promise<void> {
  if (hasStrays(context.db, serviceId)) return
  const own = servicePathsOf(context.paths, serviceId)
  const kept = removeOldRows(context, serviceId)
  const pruned = kept.isBuilding ? undefined : context.artifacts.prune(serviceId, kept.artifacts)
  setAside(own.builds, own.trash, (name) => kept.builds.has(name))
  setAside(own.secrets, own.trash, (name) => kept.secrets.has(name.replace(/\.new$/, '')))
  setAside(own.sources, own.trash, (name) => kept.sources.has(name.split('.', 1)[0] ?? ''))
  await pruned
  for (const name of namesIn(own.trash)) await removeTree(join(own.trash, name))
}

export async function pruneIfUnused(context: Pruner, serviceId: string, releaseId: string): Promise<void> {
  const users = [...instancesOf(context.db, serviceId), ...openJobs(context.db, serviceId)]
  if (!users.some((user) => user.releaseId === releaseId)) await pruneReleases(context, serviceId)
}

interface Kept {
  isBuilding: boolean
  artifacts: Set<string>
  builds: Set<string>
  secrets: Set<string>
  sources: Set<string>
}

function removeOldRows({ db, config }: Pruner, serviceId: string): Kept {
  return db.transaction(() => {
    const unfinished = unfinishedDeploys(db, serviceId)
    const inUse = [...instancesOf(db, serviceId), ...openJobs(db, serviceId), ...unfinished]
      .map(({ releaseId }) => releaseId)
      .filter((id) => id !== null)
    const wanted = new Set([...keptReleaseIds(everLive(db, serviceId), config.CP_RELEASES_KEPT), ...inUse])
    const [kept, old] = parted(listReleases(db, serviceId), ({ id }) => wanted.has(id))
    for (const { id } of old) deleteRelease(db, id)
    const pending = unfinished.flatMap(({ sourceId }) => (sourceId === null ? [] : [sourceId]))
    return {
      isBuilding: unfinished.some(({ releaseId }) => releaseId === null),
      artifacts: new Set(kept.map(({ artifact }) => artifact)),
      builds: new Set([...unfinished.map(({ id }) => id), ...pending]),
      secrets: new Set(inUse),
      sources: keepSources(db, serviceId, {
        wanted: new Set([...kept.map(({ sourceId }) => sourceId), ...pending]),
        newest: config.CP_RELEASES_KEPT,
      }),
    }
  })()
}

/** The newest stay, too: the next deploy may be made of one of them. */
function keepSources(
  db: AppContext['db'],
  serviceId: string,
  { wanted, newest }: { wanted: ReadonlySet<string>; newest: number },
): Set<string> {
  const [kept, old] = parted(listSources(db, serviceId), ({ id }, index) => index < newest || wanted.has(id))
  for (const { id } of old) deleteSource(db, id)
  return new Set(kept.map(({ id }) => id))
}

function parted<T>(items: readonly T[], isKept: (item: T, index: number) => boolean): [kept: T[], others: T[]] {
  const kept = items.filter(isKept)
  return [kept, items.filter((item) => !kept.includes(item))]
}
