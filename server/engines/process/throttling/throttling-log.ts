import type { Cgroups } from '../cgroups/cgroups.ts'
import { groupOf, parentGroupOf } from '../records/processes.ts'
import type { Workload } from '../records/record.ts'

export interface ThrottlingSample {
  parent: string
  /** Tenths of a second in which it was active, and in which it was at its processor limit. */
  periods: number
  throttledPeriods: number
  refusedForks: number
}

export interface ThrottlingLog {
  since(apps: readonly Workload[]): ThrottlingSample[]
  keepOnly(apps: readonly Workload[]): void
}

type Figures = Omit<ThrottlingSample, 'parent'>

const NOTHING: Figures = { periods: 0, throttledPeriods: 0, refusedForks: 0 }

/** What the figures of adopted apps are about is not known, so that nothing is told of them the first time. */
export function openThrottlingLog(cgroups: Cgroups, adopted: readonly Workload[]): ThrottlingLog {
  const seen = new Map<string, Figures | undefined>(adopted.map(({ id }) => [id, undefined]))

  function read(app: Workload): Figures {
    const group = groupOf(app)
    const throttling = cgroups.throttling(group)
    const before = seen.get(app.id)
    const isIdle = before !== undefined && throttling.periods === before.periods
    return { ...throttling, refusedForks: isIdle ? before.refusedForks : cgroups.refusedForks(group) }
  }

  function added(app: Workload): Figures {
    const now = read(app)
    const before = seen.has(app.id) ? (seen.get(app.id) ?? now) : NOTHING
    seen.set(app.id, now)
    return {
      periods: now.periods - before.periods,
      throttledPeriods: now.throttledPeriods - before.throttledPeriods,
      refusedForks: now.refusedForks - before.refusedForks,
    }
  }

  return {
    since: (apps) =>
      [...Map.groupBy(apps, parentGroupOf)].map(([parent, all]) => ({ parent, ...all.map(added).reduce(together, NOTHING) })),
    keepOnly: (apps) => {
      const kept = new Set(apps.map(({ id }) => id))
      for (const id of seen.keys()) if (!kept.has(id)) seen.delete(id)
    },
  }
}

const together = (one: Figures, other: Figures): Figures => ({
  periods: one.periods + other.periods,
  throttledPeriods: one.throttledPeriods + other.throttledPeriods,
  refusedForks: one.refusedForks + other.refusedForks,
})
