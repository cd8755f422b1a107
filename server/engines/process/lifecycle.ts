import { AppError } from '../../../shared/error.ts'
import { checkSpec } from '../port/check-spec.ts'
import type { InstanceState } from '../port/port.ts'
import type { Priority } from '../port/workload.ts'
import type { Cgroups } from './cgroups/cgroups.ts'
import { startedAt } from './kernel/proc.ts'
import { type LaunchContext, type LaunchSpec, launch } from './launcher.ts'
import type { Freezer } from './records/freezer.ts'
import { groupOf, isTrueWithin, type Processes } from './records/processes.ts'
import type { Workload } from './records/record.ts'
import type { ProcessSpec } from './spec.ts'
import type { Supervised, Supervisor } from './supervisor.ts'
import { removeLayer } from './writable-layer.ts'

export interface LifecycleContext extends LaunchContext {
  cgroups: Cgroups | undefined
  processes: Processes
  freezer: Freezer
  supervisor: Supervisor
  log: (message: string) => void
}

export async function startInstance(context: LifecycleContext, spec: ProcessSpec): Promise<void> {
  const known = context.supervisor.get(spec.instanceId)
  if (known?.end !== undefined) {
    throw new AppError('conflict', `Instance ${spec.instanceId} has ended; remove it or start one with another id`)
  }
  if (known !== undefined) return known.launched
  const kind = spec.runs === 'once' ? 'task' : 'instance'
  await begin(context, { id: spec.instanceId, kind, port: spec.port ?? null }, spec).launched
}

export function begin(context: LifecycleContext, name: Pick<Workload, 'id' | 'kind' | 'isJoined' | 'port'>, spec: LaunchSpec): Supervised {
  checkSpec({ ...spec, ids: [name.id, spec.sandbox.ownerId] })
  if (spec.sandbox.uid === 0 || spec.sandbox.gid === 0) throw new AppError('validation_failed', 'A service cannot run as root')
  const { records, supervisor } = context
  const priority = spec.priority ?? PRIORITIES[name.kind]
  const workload = { ...name, ownerId: spec.sandbox.ownerId, bootId: records.bootId, priority }
  records.write(workload)
  const one = supervisor.add(workload, { hasOwnMonitor: true })
  one.launched = watchMonitor(context, one, spec)
  return one
}

const PRIORITIES: Record<Workload['kind'], Priority> = { instance: 'live', task: 'background', terminal: 'background' }

async function watchMonitor(context: LifecycleContext, one: Supervised, spec: LaunchSpec): Promise<void> {
  try {
    const monitor = await launch(context, one.workload, spec)
    one.letGo = monitor.letGo
    // Whatever the monitor could not record is found out as for an adopted workload.
    void monitor.ended.then(() => context.supervisor.follow(one))
  } catch (error) {
    one.stopping = context.processes.killAll(one.workload)
    await one.stopping
    await forget(context, one)
    throw error
  }
}

export async function inspect({ supervisor, records, networks }: LifecycleContext, id: string): Promise<InstanceState | undefined> {
  const one = supervisor.get(id)
  if (one === undefined) return undefined
  await one.launched.catch(() => {})
  if (one.end !== undefined) return one.end
  const leader = records.processOf(one.workload)
  if (leader === undefined) return undefined
  const { port } = one.workload
  const endpoint = { host: networks.addressOf(id), ...(port != null && { port }) }
  return { status: 'running', startedAt: startedAt(leader), ...(port !== null && { endpoint }) }
}

export async function stop(context: LifecycleContext, id: string, graceMs: number): Promise<void> {
  const { supervisor } = context
  const one = supervisor.get(id)
  if (one === undefined) return
  await one.launched.catch(() => {})
  const ending = endProcesses(context, one, graceMs)
  one.stopping = Promise.allSettled([one.stopping, ending])
  await ending
  await isTrueWithin(() => {
    if (one.end === undefined && supervisor.get(id) === one) supervisor.check(one)
    return one.end !== undefined || supervisor.get(id) !== one
  }, STOP_RECORD_DEADLINE_MS)
}

async function endProcesses({ processes, freezer }: LifecycleContext, one: Supervised, graceMs: number): Promise<void> {
  if (graceMs > 0 && one.end === undefined) {
    processes.terminate(one.workload)
    freezer.thaw(one.workload)
    await processes.areGone(one.workload, graceMs)
  }
  await processes.killAll(one.workload)
}

/** Everything is dead by then; the record of it takes a few milliseconds, or its time of grace when the monitor died too. */
const STOP_RECORD_DEADLINE_MS = 10_000
const REMOVE_DEADLINE_MS = 5000

export async function freeze({ supervisor, freezer }: LifecycleContext, id: string): Promise<void> {
  const one = await runningOne(supervisor, id)
  if (one === undefined) return
  await freezer.freeze(one.workload)
  // A stop that began meanwhile has thawed it too early.
  if (one.stopping !== undefined) freezer.thaw(one.workload)
}

export async function thaw({ supervisor, freezer }: LifecycleContext, id: string): Promise<void> {
  const one = await runningOne(supervisor, id)
  if (one !== undefined) freezer.thaw(one.workload)
}

async function runningOne(supervisor: Supervisor, id: string): Promise<Supervised | undefined> {
  const one = supervisor.get(id)
  await one?.launched.catch(() => {})
  return one === undefined || one.end !== undefined || one.stopping !== undefined ? undefined : one
}

export async function remove(context: LifecycleContext, id: string): Promise<void> {
  const one = context.supervisor.get(id)
  if (one === undefined) return
  if (one.end === undefined) throw new AppError('conflict', `${id} is still running; stop it first`)
  await forget(context, one)
}

export async function forget({ cgroups, records, supervisor, networks }: LifecycleContext, { workload }: Supervised): Promise<void> {
  // The kernel lets go of a group a moment after its last process.
  await Promise.all([isTrueWithin(() => cgroups?.remove(groupOf(workload)) ?? true, REMOVE_DEADLINE_MS), networks.leave(workload.id)])
  await removeLayer(records.dirOf(workload.id))
  records.remove(workload.id)
  supervisor.forget(workload.id)
}
