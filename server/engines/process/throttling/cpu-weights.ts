/**
 * An app that takes all the processor time it may yields to those that do not: as long as it is at its limit, its service has the weight
 * of what can wait, and only some of the cores. Within its limit it takes what is left, and a fair share of what others at their limits
 * take. Without this a neighbour with little to do waits at each request until an app that computes without end has used up its turn: on a
 * quiet machine with two cores its 99th percentile was 6 to 12 times as long as without that app, and with the weight alone 1 to 4 times
 * (`cpd doctor` measures it). Making such an app idle (cpu.idle) did not do better than the weight. What forks without end against its
 * limit of processes is held to be such an app whatever processor time it may have.
 */
import { readFileSync } from 'node:fs'
import type { Cgroups } from '../cgroups/cgroups.ts'
import { coresToShare, planConfinement } from '../cgroups/cores.ts'
import { TICKS_PER_SECOND } from '../kernel/proc.ts'
import { groupOf, parentGroupOf } from '../records/processes.ts'
import type { Workload } from '../records/record.ts'
import { planCpuWeights, suspectsOf } from './cpu-weights-plan.ts'
import { openThrottlingLog } from './throttling-log.ts'

const SAMPLE_EVERY_MS = 1000
/** Long enough to tell of one that came to its limit in the middle of a look that it is there all the time. */
const SAMPLE_AGAIN_MS = 350
const BUSY_CORES = 0.2

interface LoweredService {
  limit: number
  cpuSeconds: number
  atMs: number
}

export function watchCpuWeights(cgroups: Cgroups, apps: () => Workload[]): () => void {
  const log = openThrottlingLog(cgroups, apps())
  const lowered = new Map<string, LoweredService>()
  const confinement = confinementBy(cgroups)
  let busyTicks = readBusyTicks()
  let again: ReturnType<typeof setTimeout> | undefined

  function sampleAll(): void {
    const before = busyTicks
    busyTicks = readBusyTicks()
    const busyCores = ((busyTicks - before) / TICKS_PER_SECOND) * (1000 / SAMPLE_EVERY_MS)
    if (busyCores < BUSY_CORES && lowered.size === 0) return
    const all = apps()
    const parents = new Set(all.map(parentGroupOf))
    for (const parent of lowered.keys()) if (!parents.has(parent)) lowered.delete(parent)
    log.keepOnly(all)
    const suspects = judge(all)
    clearTimeout(again)
    if (suspects.size === 0) return
    again = setTimeout(() => judge(apps().filter((app) => suspects.has(parentGroupOf(app)))), SAMPLE_AGAIN_MS)
    again.unref()
  }

  function judge(some: readonly Workload[]): Set<string> {
    const appsOf = Map.groupBy(some, parentGroupOf)
    const known = new Set(lowered.keys())
    const activities = log
      .since(some)
      .map((sample) => ({ ...sample, usedShare: usedShareOf(sample.parent, appsOf.get(sample.parent) ?? []) }))
    for (const { parent, priority } of planCpuWeights(activities, known)) {
      cgroups.weigh(parent, priority)
      if (priority === 'live') lowered.delete(parent)
      else lowered.set(parent, takenBy(cgroups, appsOf.get(parent) ?? []))
    }
    confinement.apply(lowered, apps())
    return suspectsOf(activities, known)
  }

  function usedShareOf(parent: string, own: readonly Workload[]): number {
    const before = lowered.get(parent)
    if (before === undefined) return 0
    const now = takenBy(cgroups, own)
    lowered.set(parent, now)
    return (now.cpuSeconds - before.cpuSeconds) / ((now.limit * (now.atMs - before.atMs)) / 1000)
  }

  // What an earlier engine had yield is found again, if it still is at its limit.
  for (const app of apps()) {
    cgroups.weigh(parentGroupOf(app), 'live')
    cgroups.confine(groupOf(app), undefined)
  }
  const timer = setInterval(sampleAll, SAMPLE_EVERY_MS)
  timer.unref()
  return () => {
    clearInterval(timer)
    clearTimeout(again)
  }
}

function takenBy(cgroups: Cgroups, apps: readonly Workload[]): LoweredService {
  const sum = (figure: (group: string) => number) => apps.reduce((total, app) => total + figure(groupOf(app)), 0)
  return {
    limit: sum((group) => cgroups.processorLimit(group) ?? Number.POSITIVE_INFINITY),
    cpuSeconds: sum((group) => cgroups.usage(group).cpuSeconds),
    atMs: performance.now(),
  }
}

function confinementBy(cgroups: Cgroups): { apply(lowered: ReadonlyMap<string, LoweredService>, apps: readonly Workload[]): void } {
  const cores = coresToShare(cgroups.cores)
  let confined = new Set<string>()
  return {
    apply: (lowered, apps) => {
      if (confined.size === 0 && lowered.size === 0) return
      const parents = planConfinement(
        cgroups.cores,
        [...lowered].map(([parent, { limit }]) => ({ parent, limit })),
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
