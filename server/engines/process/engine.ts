import { join, resolve } from 'node:path'
import { AppError } from '../../../shared/error.ts'
import type { Engine } from '../port.ts'
import type { Cgroups } from './cgroups.ts'
import { diskGuaranteesOf, diskMountsOf } from './disk-support.ts'
import { guaranteesOf, probeHost, usableCgroups } from './host.ts'
import { installKeeper } from './launcher.ts'
import { inspect, type LifecycleContext, remove, runTask, startInstance, stop } from './lifecycle.ts'
import { groupOf, isTrueWithin, processesBy } from './processes.ts'
import { openRecords } from './record.ts'
import { createSupervisor } from './supervisor.ts'

export interface ProcessEngineOptions {
  /** For our records; hidden from every workload. */
  stateDir: string
  /** Names our control groups. Only what carries it is ever touched, so each data directory needs its own. */
  label: string
  /** More folders of the control plane that workloads see empty. */
  hiddenDirs?: string[]
  log?: (message: string) => void
  /** Where control groups are mounted. */
  cgroupRoot?: string
}

const ADOPTION_DEADLINE_MS = 10_000
const STRAY_DEADLINE_MS = 5000

/** Runs workloads as plain processes of this machine, and adopts those that an earlier engine with the same state left running. */
export async function createProcessEngine(options: ProcessEngineOptions): Promise<Engine> {
  const context = await openContext(options)
  const { supervisor, processes, host } = context
  await adopt(context)
  return {
    name: 'process',
    hasOwnNetworks: false,
    mountsDisks: diskMountsOf(host),
    guarantees: async () => [...guaranteesOf(host), ...diskGuaranteesOf(host)],
    start: (spec) => startInstance(context, spec),
    inspect: (id) => inspect(context, id),
    list: async () => supervisor.all().map(({ workload: { id, serviceId, kind } }) => ({ instanceId: id, serviceId, kind })),
    stop: (id, { graceMs }) => stop(context, id, graceMs),
    remove: (id) => remove(context, id),
    onExit: supervisor.onExit,
    runTask: (task, signal) => runTask(context, task, signal),
    openTerminal: async () => {
      throw new AppError('unavailable', 'This engine opens no terminals')
    },
    freeze: async () => {},
    thaw: async () => {},
    link: async () => {},
    usage: async (id) => {
      const one = supervisor.get(id)
      return one === undefined || one.end !== undefined ? undefined : processes.usage(one.workload)
    },
    removeService: async (serviceId) => {
      const ids = supervisor.all().flatMap(({ workload }) => (workload.serviceId === serviceId ? [workload.id] : []))
      await Promise.all(ids.map((id) => stop(context, id, 0)))
      await Promise.all(ids.map((id) => remove(context, id)))
    },
    close: async () => {
      const tasks = supervisor.all().filter((one) => one.workload.kind === 'task' && one.hasOwnKeeper)
      await Promise.all(tasks.map((one) => stop(context, one.workload.id, 0)))
      supervisor.close()
      context.cgroups?.close()
    },
  }
}

async function openContext({ label, cgroupRoot, ...options }: ProcessEngineOptions): Promise<LifecycleContext> {
  const stateDir = resolve(options.stateDir)
  const host = await probeHost({ label, ...(cgroupRoot === undefined ? {} : { cgroupRoot }) })
  const cgroups = usableCgroups(host)
  const records = openRecords(join(stateDir, 'instances'))
  const processes = processesBy(records, cgroups)
  const supervisor = createSupervisor({ records, processes, cgroups, log: options.log ?? (() => {}) })
  const hiddenDirs = [stateDir, ...(options.hiddenDirs ?? [])]
  return { host, cgroups, records, keeperPath: installKeeper(stateDir), processes, supervisor, hiddenDirs }
}

/** Takes over what earlier engines started. What has ended meanwhile is told by `inspect`, not to listeners, of which there are none yet. */
async function adopt({ records, supervisor, cgroups }: LifecycleContext): Promise<void> {
  const adopted = records.all().map((workload) => supervisor.add(workload, { hasOwnKeeper: false }))
  await Promise.all(
    adopted.map(async (one) => {
      // A launcher whose control plane was killed a moment ago has still to record its process.
      await isTrueWithin(() => supervisor.check(one), ADOPTION_DEADLINE_MS)
      if (one.isSettling) await one.ended
    }),
  )
  const known = new Set(adopted.map(({ workload }) => groupOf(workload)))
  for (const group of cgroups?.groups().filter((name) => !known.has(name)) ?? []) await removeStrayGroup(cgroups, group)
}

/** A group of ours without a record, as its folder was lost. */
async function removeStrayGroup(cgroups: Cgroups | undefined, group: string): Promise<void> {
  await isTrueWithin(() => {
    cgroups?.kill(group)
    return cgroups?.remove(group) ?? true
  }, STRAY_DEADLINE_MS)
}
