/**
 * An app that takes all the processor time it may yields to those that do not: as long as it is at its limit, its service has the weight
 * of what can wait, and only some of the cores. Within its limit it takes what is left, and a fair share of what others at their limits
 * take. Without this a neighbour with little to do waits at each request until an app that computes without end has used up its turn: on a
 * quiet machine with two cores its 99th percentile was 6 to 12 times as long as without that app, and with the weight alone 1 to 4 times
 * (`cpd doctor` measures it). Making such an app idle (cpu.idle) did not do better than the weight. What forks without end against its
 * limit of processes is held to be such an app whatever processor time it may have.
 */
import { readFileSync } from 'node:fs'
import type { Cgroups } from './cgroups.ts'
import { coresToShare, planConfinement } from './cores.ts'
import { TICKS_PER_SECOND } from './proc.ts'
import { groupOf, parentGroupOf } from './processes.ts'
import type { Workload } from './record.ts'
import { openStrainLog } from './strain.ts'
import { planYielding, suspectsOf } from './yielding-plan.ts'

const LOOK_EVERY_MS = 1000
/** Long enough to tell of one that came to its limit in the middle of a look that it is there all the time. */
const LOOK_AGAIN_MS = 350
/** Processor time of the machine in a look, in cores, below which nobody is in anybody's way. */
const BUSY_CORES = 0.2

/** A service that yields: how much it may take in cores, and what it had taken at the last look. */
interface Yielder {
  limit: number
  cpuSeconds: number
  atMs: number
}

/** Looks once a second, and at no service while the machine has nothing to do. Returns what ends it. */
export function watchYielding(cgroups: Cgroups, apps: () => Workload[]): () => void {
  const log = openStrainLog(cgroups, apps())
  const yielding = new Map<string, Yielder>()
  const confinement = confinementBy(cgroups)
  let busyTicks = readBusyTicks()
  let again: ReturnType<typeof setTimeout> | undefined

  function look(): void {
    const before = busyTicks
    busyTicks = readBusyTicks()
    const busyCores = ((busyTicks - before) / TICKS_PER_SECOND) * (1000 / LOOK_EVERY_MS)
    if (busyCores < BUSY_CORES && yielding.size === 0) return
    const all = apps()
    const parents = new Set(all.map(parentGroupOf))
    for (const parent of yielding.keys()) if (!parents.has(parent)) yielding.delete(parent)
    log.keepOnly(all)
    const suspects = judge(all)
    clearTimeout(again)
    if (suspects.size === 0) return
    again = setTimeout(() => judge(apps().filter((app) => suspects.has(parentGroupOf(app)))), LOOK_AGAIN_MS)
    again.unref()
  }

  /** Has those of these apps yield that are to from now on. Returns whose services are to be looked at again soon. */
  function judge(some: readonly Workload[]): Set<string> {
    const appsOf = Map.groupBy(some, parentGroupOf)
    const known = new Set(yielding.keys())
    const activities = log
      .since(some)
      .map((strain) => ({ ...strain, usedShare: usedShareOf(strain.parent, appsOf.get(strain.parent) ?? []) }))
    for (const { parent, priority } of planYielding(activities, known)) {
      cgroups.weigh(parent, priority)
      if (priority === 'live') yielding.delete(parent)
      else yielding.set(parent, takenBy(cgroups, appsOf.get(parent) ?? []))
    }
    confinement.apply(yielding, apps())
    return suspectsOf(activities, known)
  }

  function usedShareOf(parent: string, own: readonly Workload[]): number {
    const before = yielding.get(parent)
    if (before === undefined) return 0
    const now = takenBy(cgroups, own)
    yielding.set(parent, now)
    return (now.cpuSeconds - before.cpuSeconds) / ((now.limit * (now.atMs - before.atMs)) / 1000)
  }

  // What an earlier engine had yield is found again, if it still is at its limit.
  for (const app of apps()) {
    cgroups.weigh(parentGroupOf(app), 'live')
    cgroups.confine(groupOf(app), undefined)
  }
  const timer = setInterval(look, LOOK_EVERY_MS)
  timer.unref()
  return () => {
    clearInterval(timer)
    clearTimeout(again)
  }
}

function takenBy(cgroups: Cgroups, apps: readonly Workload[]): Yielder {
  const sum = (figure: (group: string) => number) => apps.reduce((total, app) => total + figure(groupOf(app)), 0)
  return {
    limit: sum((group) => cgroups.processorLimit(group) ?? Number.POSITIVE_INFINITY),
    cpuSeconds: sum((group) => cgroups.usage(group).cpuSeconds),
    atMs: performance.now(),
  }
}

/** Writes only what is to be another than it was written last. */
function confinementBy(cgroups: Cgroups): { apply(yielding: ReadonlyMap<string, Yielder>, apps: readonly Workload[]): void } {
  const cores = coresToShare(cgroups.cores)
  let confined = new Set<string>()
  return {
    apply: (yielding, apps) => {
      if (confined.size === 0 && yielding.size === 0) return
      const parents = planConfinement(
        cgroups.cores,
        [...yielding].map(([parent, { limit }]) => ({ parent, limit })),
      )
      const wanted = new Set(apps.filter((app) => parents.has(parentGroupOf(app))).map(groupOf))
      for (const group of wanted.difference(confined)) cgroups.confine(group, cores)
      for (const group of confined.difference(wanted)) cgroups.confine(group, undefined)
      confined = wanted
    },
  }
}

/** User, nice, system, interrupts and stolen time of all processors (proc_stat(5)); what they idled is left out. */
function readBusyTicks(): number {
  const [, user, nice, system, , , irq, softirq, steal] = (readFileSync('/proc/stat', 'utf8').split('\n', 1)[0] ?? '')
    .split(/\s+/)
    .map(Number)
  return [user, nice, system, irq, softirq, steal].reduce<number>((sum, ticks) => sum + (ticks ?? 0), 0)
}
