import type { Guard, Situation } from '../../../../server/apps/instances/plan.ts'
import type { SleepState } from '../../../../server/apps/instances/sleep-plan.ts'
import type { InstanceExit, InstancePhase, StoredInstance } from '../../../../server/apps/workloads/instance-store.ts'
import { type ServiceSet, setIdOf } from '../../../../server/apps/workloads/service-sets.ts'

export const NOW = 1_000_000

export const awake: SleepState = {
  asleep: undefined,
  wanted: undefined,
  dueAt: Number.POSITIVE_INFINITY,
  countedUntil: NOW,
  hasWoken: false,
}

/** The sets that instances are of, as large as they are. */
export function setsOf(instances: readonly StoredInstance[]): ServiceSet[] {
  return [...Map.groupBy(instances, setIdOf).values()].map((ofSet) => {
    const active = ofSet.filter(({ phase }) => phase !== 'draining')
    const { deployId = '', generation = 0 } = ofSet[0] ?? {}
    const isFrozen = active.some(({ frozenAt }) => frozenAt !== null)
    return { deployId, generation, replicas: active.length, isFrozen, isDropped: active.length === 0 }
  })
}

/** A service with one live deploy, `old`, unless told otherwise, and with the sets of its instances. */
export function situation(changes: Partial<Omit<Situation, 'service'>> & { service?: Partial<Situation['service']> } = {}): Situation {
  const { service, ...rest } = changes
  return {
    now: NOW,
    candidate: undefined,
    guard: undefined,
    sleep: awake,
    sets: setsOf(rest.instances ?? []),
    instances: [],
    hasJobs: false,
    healthTimeoutMs: 10_000,
    ...rest,
    service: {
      wantedInstances: 1,
      generation: 0,
      liveDeployId: 'old',
      liveGeneration: 0,
      isSuspended: false,
      isDeleted: false,
      replaces: 'rolling',
      isHalted: false,
      ...service,
    },
  }
}

export const candidate = (changes: Partial<NonNullable<Situation['candidate']>> = {}): NonNullable<Situation['candidate']> => ({
  deployId: 'new',
  updateStartedAt: NOW,
  isCancelRequested: false,
  ...changes,
})

/** The release that was live before `old` is `prev`, and its window is over in ten seconds. */
export const guard = (changes: Partial<Guard> = {}): Guard => ({
  previous: { deployId: 'prev', generation: 0 },
  until: NOW + 10_000,
  isEnabled: true,
  countedUntil: NOW,
  verdict: undefined,
  ...changes,
})

/** An instance of the live set, `serving`, unless told otherwise. */
export function instance(id: string, phase: InstancePhase = 'serving', changes: Partial<StoredInstance> = {}): StoredInstance {
  return {
    id,
    serviceId: 'srv',
    deployId: 'old',
    releaseId: 'rel',
    generation: 0,
    address: null,
    port: 20_000,
    ownPort: null,
    misplaced: null,
    phase,
    restarts: 0,
    exits: [],
    startAt: NOW,
    drainingAt: null,
    frozenAt: null,
    startedAt: null,
    createdAt: NOW,
    ...changes,
  }
}

export const exits = (count: number, changes: Partial<InstanceExit> = {}): InstanceExit[] =>
  Array.from({ length: count }, () => ({ at: NOW, exitCode: 1, signal: null, ...changes }))
