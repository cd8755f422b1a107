import type { StoredDeploy } from '../deploys/store.ts'

type Waiting = Pick<StoredDeploy, 'id' | 'serviceId' | 'releaseId' | 'trigger'> & { workspaceId: string }

export interface Places {
  busy: readonly Waiting[]
  maxBuilds: number
  placesOf(workspaceId: string): number
  lastTurnOf(workspaceId: string): number
}

/**
 * The oldest deploy of each idle service. Deploys that have their release need no place for a build, but those that a change of what
 * services share has made: one change may mean hundreds. Places go to the workspace with the fewest, then to the one whose turn was
 * longest ago, so a long queue of one holds up nobody else.
 */
export function chooseDeploys<T extends Waiting>(unfinished: readonly T[], { busy, maxBuilds, placesOf, lastTurnOf }: Places): T[] {
  const taken = new Set(busy.map((deploy) => deploy.serviceId))
  const next = unfinished.filter(({ serviceId }) => !taken.has(serviceId) && taken.add(serviceId))
  const ready = next.filter((deploy) => !takesPlace(deploy))
  const waiting = next.filter(takesPlace)
  const building = busy.filter(takesPlace)
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

export const takesPlace = ({ releaseId, trigger }: Pick<Waiting, 'releaseId' | 'trigger'>): boolean =>
  releaseId === null || trigger === 'service_updated'

/** One workspace never has all places: a build may take half an hour. */
export const placesOfEach = (maxBuilds: number, workspaces: number): number => (workspaces > 1 ? Math.max(1, maxBuilds - 1) : maxBuilds)
