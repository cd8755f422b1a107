import type { StoredDeploy } from '../deploys/store.ts'

type Waiting = Pick<StoredDeploy, 'id' | 'serviceId' | 'releaseId'>

/**
 * Which of the unfinished deploys (oldest first) are to be worked on now: the oldest of each service on which no work is under
 * way. What has its release already (a rollback) needs no build, so it does not wait for a place among the builds.
 */
export function chooseDeploys<T extends Waiting>(
  unfinished: readonly T[],
  { busy, maxBuilds }: { busy: readonly Waiting[]; maxBuilds: number },
): T[] {
  const taken = new Set(busy.map((deploy) => deploy.serviceId))
  let places = maxBuilds - busy.filter((deploy) => deploy.releaseId === null).length
  return unfinished.filter((deploy) => {
    if (taken.has(deploy.serviceId)) return false
    if (deploy.releaseId === null) {
      if (places <= 0) return false
      places -= 1
    }
    taken.add(deploy.serviceId)
    return true
  })
}
