/**
 * An app that takes all the processor time it may yields to those that do not: as long as it is at its limit, its service has the weight
 * of what can wait. Within its limit it takes what is left, and a fair share of what others at their limits take. Without this a neighbour
 * with little to do waits at each request until an app that computes without end has used up its turn: on a quiet machine with two cores
 * its 99th percentile was 6 to 12 times as long as without that app, and is 1 to 4 times as long with this (`cpd doctor` measures it).
 * Making such an app idle (cpu.idle) did not do better; keeping it to some of the cores did, where there are more than one.
 */
import { readFileSync } from 'node:fs'
import type { Priority } from '../port.ts'
import type { Throttling } from './cgroup-layout.ts'
import type { Cgroups } from './cgroups.ts'
import { TICKS_PER_SECOND } from './proc.ts'
import { groupOf, parentGroupOf } from './processes.ts'
import type { Workload } from './record.ts'

/** What was seen of the instances of one service since the last look. */
export interface Activity extends Throttling {
  parent: string
}

const LOOK_EVERY_MS = 1000
/** Processor time of the machine in a look, in cores, below which nobody is in anybody's way. */
const BUSY_CORES = 0.2
const YIELDING_SHARE = 0.5
const RECOVERED_SHARE = 0.1
/** Of a tenth of a second each. */
const MIN_PERIODS = 3

/** Who is to yield from now on, and who no longer, by the share of their active time that they were at their limit. */
export function planYielding(activities: readonly Activity[], yielding: ReadonlySet<string>): { parent: string; priority: Priority }[] {
  const shareOf = ({ periods, throttledPeriods }: Activity) => (periods === 0 ? 0 : throttledPeriods / periods)
  const rising = activities.filter((one) => yielding.has(one.parent) && shareOf(one) < RECOVERED_SHARE)
  const falling = activities.filter((one) => !yielding.has(one.parent) && one.periods >= MIN_PERIODS && shareOf(one) >= YIELDING_SHARE)
  return [
    ...rising.map(({ parent }) => ({ parent, priority: 'live' as const })),
    ...falling.map(({ parent }) => ({ parent, priority: 'background' as const })),
  ]
}

/** Looks once a second, and at no service while the machine has nothing to do. Returns what ends it. */
export function watchYielding(cgroups: Cgroups, apps: () => Workload[]): () => void {
  const activitiesOf = createThrottleLog(cgroups)
  let yielding = new Set<string>()
  let busyTicks = readBusyTicks()

  function look(): void {
    const before = busyTicks
    busyTicks = readBusyTicks()
    const busyCores = ((busyTicks - before) / TICKS_PER_SECOND) * (1000 / LOOK_EVERY_MS)
    if (busyCores < BUSY_CORES && yielding.size === 0) return
    const activities = activitiesOf(apps())
    yielding = yielding.intersection(new Set(activities.map(({ parent }) => parent)))
    for (const { parent, priority } of planYielding(activities, yielding)) {
      cgroups.weigh(parent, priority)
      if (priority === 'live') yielding.delete(parent)
      else yielding.add(parent)
    }
  }

  // What an earlier engine had yield is found again, if it still is at its limit.
  for (const app of apps()) cgroups.weigh(parentGroupOf(app), 'live')
  const timer = setInterval(look, LOOK_EVERY_MS)
  timer.unref()
  return () => clearInterval(timer)
}

/** Tells what has been added since it was asked last; nothing of those that it sees for the first time. */
function createThrottleLog(cgroups: Cgroups): (apps: readonly Workload[]) => Activity[] {
  let seen = new Map<string, Throttling>()
  return (apps) => {
    const [before, now] = [seen, new Map(apps.map((app) => [app.id, cgroups.throttling(groupOf(app))]))]
    seen = now
    const added = (app: Workload, figure: keyof Throttling) => {
      const at = now.get(app.id)?.[figure] ?? 0
      return at - (before.get(app.id)?.[figure] ?? at)
    }
    const sum = (all: readonly Workload[], figure: keyof Throttling) => all.reduce((total, app) => total + added(app, figure), 0)
    return [...Map.groupBy(apps, parentGroupOf)].map(([parent, all]) => ({
      parent,
      periods: sum(all, 'periods'),
      throttledPeriods: sum(all, 'throttledPeriods'),
    }))
  }
}

/** User, nice, system, interrupts and stolen time of all processors (proc_stat(5)); what they idled is left out. */
function readBusyTicks(): number {
  const [, user, nice, system, , , irq, softirq, steal] = (readFileSync('/proc/stat', 'utf8').split('\n', 1)[0] ?? '')
    .split(/\s+/)
    .map(Number)
  return [user, nice, system, irq, softirq, steal].reduce<number>((sum, ticks) => sum + (ticks ?? 0), 0)
}
