import type { StoredDeploy } from '../deploys/store.ts'

type Waiting = Pick<StoredDeploy, 'id' | 'serviceId' | 'releaseId'> & { workspaceId: string }

export interface Places {
  /** What work is under way on. */
  busy: readonly Waiting[]
  maxBuilds: number
  /** Builds that a workspace may have at a time. */
  placesOf(workspaceId: string): number
  /** When a build of the workspace began last; the larger the later. */
  lastTurnOf(workspaceId: string): number
}

/**
 * Which of the unfinished deploys (oldest first) are to be worked on now: the oldest of each service on which no work is under
 * way. What has its release already (a rollback) needs no build, so it does not wait for a place among the builds. Places for builds go
 * to the workspace that has fewest of them, then to the one whose turn was longest ago: a long queue of one holds up nobody else.
 */
export function chooseDeploys<T extends Waiting>(unfinished: readonly T[], { busy, maxBuilds, placesOf, lastTurnOf }: Places): T[] {
  const taken = new Set(busy.map((deploy) => deploy.serviceId))
  const next = unfinished.filter(({ serviceId }) => !taken.has(serviceId) && taken.add(serviceId))
  const ready = next.filter(({ releaseId }) => releaseId !== null)
  const waiting = next.filter(({ releaseId }) => releaseId === null)
  const building = busy.filter(({ releaseId }) => releaseId === null)
  const held = new Map<string, number>()
  const heldBy = (workspaceId: string) => held.get(workspaceId) ?? 0
  const hold = ({ workspaceId }: Waiting) => held.set(workspaceId, heldBy(workspaceId) + 1)
  building.forEach(hold)

  const chosen: T[] = []
  for (let places = maxBuilds - building.length; places > 0; places -= 1) {
    const [first, ...others] = waiting.filter(
      (deploy) => !chosen.includes(deploy) && heldBy(deploy.workspaceId) < placesOf(deploy.workspaceId),
    )
    if (first === undefined) break
    const isBefore = (one: T, other: T) =>
      heldBy(one.workspaceId) - heldBy(other.workspaceId) || lastTurnOf(one.workspaceId) - lastTurnOf(other.workspaceId)
    const turn = others.reduce((best, deploy) => (isBefore(deploy, best) < 0 ? deploy : best), first)
    chosen.push(turn)
    hold(turn)
  }
  return [...ready, ...chosen]
}

/** A build may take half an hour: where there are several workspaces, none of them has all places, so that the next one to come finds one. */
export const placesOfEach = (maxBuilds: number, workspaces: number): number => (workspaces > 1 ? Math.max(1, maxBuilds - 1) : maxBuilds)
