import { messageOf } from '../../../shared/error.ts'
import type { EndReason } from '../port/end.ts'
import type { ExitedState, ExitListener } from '../port/port.ts'
import type { Cgroups } from './cgroups/cgroups.ts'
import { isAlive, type ProcessStat, readStat } from './kernel/proc.ts'
import { groupOf, type Processes } from './records/processes.ts'
import type { RecordedExit, Records, Workload } from './records/record.ts'
import { drainSpool } from './records/spool.ts'

/**
 * Knows for each workload whether it runs, by one rule for those we started and those we adopted: its record on disk says how it ended,
 * or else the recorded process lives. The monitor of a workload of ours pokes us when it ends. Of the adopted ones the record is watched,
 * and their control group, as one whose monitor was killed ends without a record; where the kernel tells nothing of groups (v1), that is
 * noticed by looking at them now and then.
 */
export interface Supervised {
  readonly workload: Workload
  launched: Promise<void>
  end: ExitedState | undefined
  readonly ended: Promise<ExitedState>
  stopping: Promise<unknown> | undefined
  hasOwnMonitor: boolean
  letGo: () => void
  goneAt: number | undefined
  isSettling: boolean
  readonly settle: (end: ExitedState) => void
}

export interface Supervisor {
  get(id: string): Supervised | undefined
  all(): Supervised[]
  add(workload: Workload, options: { hasOwnMonitor: boolean }): Supervised
  forget(id: string): void
  follow(supervised: Supervised): void
  check(supervised: Supervised): boolean
  onExit(listener: ExitListener): () => void
  close(): void
}

export interface SupervisorOptions {
  records: Records
  processes: Processes
  cgroups: Cgroups | undefined
  log: (message: string) => void
}

const ADOPTED_CHECK_MS = 10_000
const UNDECIDED_CHECK_MS = 100
const RECORD_GRACE_MS = 1000
/** A launcher whose control plane was killed may not have come to record its process yet; one that is later still ends at the lost pipe. */
const LAUNCH_GRACE_MS = 2000

export function createSupervisor(options: SupervisorOptions): Supervisor {
  const { records } = options
  const supervised = new Map<string, Supervised>()
  const listeners = new Set<ExitListener>()
  // A closed supervisor's monitors still end, and by then the records may be another's.
  let isClosed = false
  const tell = (one: Supervised) => {
    if (one.end === undefined || one.workload.kind === 'terminal') return
    for (const listener of listeners) listener(one.workload.id, one.end)
  }
  const check = (one: Supervised) => {
    if (one.isSettling || isClosed || supervised.get(one.workload.id) !== one) return true
    const seen = observe(records, one)
    if (typeof seen === 'object') void settle(one, seen, options).then(tell)
    return seen !== 'undecided'
  }
  const checkUntilDecided = (one: Supervised) => {
    if (!check(one)) setTimeout(() => checkUntilDecided(one), UNDECIDED_CHECK_MS).unref()
  }
  const follow = (one: Supervised) => {
    one.hasOwnMonitor = false
    one.letGo()
    if (isClosed || one.isSettling) return
    one.letGo = watchBoth(one, () => checkUntilDecided(one))
    checkUntilDecided(one)
  }
  const watchBoth = ({ workload }: Supervised, onChange: () => void) => {
    const unwatch = [records.watch(workload.id, onChange), options.cgroups?.watchEnd(groupOf(workload), onChange)]
    return () => {
      for (const stop of unwatch) stop?.()
    }
  }
  const timer = setInterval(() => {
    for (const one of supervised.values()) if (!one.hasOwnMonitor) checkUntilDecided(one)
  }, ADOPTED_CHECK_MS)
  timer.unref()
  return {
    get: (id) => supervised.get(id),
    all: () => [...supervised.values()],
    add: (workload, { hasOwnMonitor }) => {
      const added = supervise(workload, hasOwnMonitor)
      supervised.set(workload.id, added)
      if (!hasOwnMonitor) follow(added)
      return added
    },
    forget: (id) => {
      supervised.get(id)?.letGo()
      supervised.delete(id)
    },
    follow,
    check,
    onExit: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    close: () => {
      isClosed = true
      clearInterval(timer)
      for (const one of supervised.values()) one.letGo()
    },
  }
}

function supervise(workload: Workload, hasOwnMonitor: boolean): Supervised {
  const { promise, resolve } = Promise.withResolvers<ExitedState>()
  const state = { end: undefined, stopping: undefined, goneAt: undefined, isSettling: false }
  return { workload, hasOwnMonitor, letGo: () => {}, launched: Promise.resolve(), ended: promise, settle: resolve, ...state }
}

function observe(records: Records, one: Supervised): RecordedExit | 'running' | 'undecided' {
  const { id, bootId } = one.workload
  const exit = records.exitOf(id)
  if (exit !== undefined) return exit
  const leader = records.processOf(one.workload)
  if (leader !== undefined && isAlive(leader)) return 'running'
  if (bootId === records.bootId && mayBeRecorded(records, one, leader)) return 'undecided'
  return recordUnknownExit(records, id)
}

/** On a full disk it ends all the same: what it holds of the disk may only be given back after its end. */
function recordUnknownExit(records: Records, id: string): RecordedExit {
  const unknown = { exitCode: null, signal: null, at: new Date().toISOString() }
  try {
    records.writeUnknownExit(id)
    return records.exitOf(id) ?? unknown
  } catch {
    return unknown
  }
}

function mayBeRecorded(records: Records, one: Supervised, leader: ProcessStat | undefined): boolean {
  if (leader === undefined) return records.ageMs(one.workload.id) < LAUNCH_GRACE_MS
  one.goneAt ??= Date.now()
  const monitor = readStat(leader.parentPid)
  return monitor !== undefined && isAlive(monitor) && monitor.startTicks <= leader.startTicks && Date.now() - one.goneAt < RECORD_GRACE_MS
}

async function settle(one: Supervised, exit: RecordedExit, options: SupervisorOptions): Promise<Supervised> {
  one.isSettling = true
  one.letGo()
  const { workload } = one
  try {
    // A command that ends takes with it whatever it left in the background.
    await (one.stopping ?? options.processes.killAll(workload))
  } catch (error) {
    options.log(messageOf(error))
  }
  await drainSpool(options.records, workload)
  const wasForcedOut = exit.exitCode !== 0 && (options.cgroups?.oomKills(groupOf(workload)) ?? 0) > 0
  const why = wasForcedOut ? 'out_of_memory' : isUnknown(exit) ? unseenBecause(options.records, workload) : undefined
  const used = workload.kind === 'task' ? options.cgroups?.used(groupOf(workload)) : undefined
  one.end = { status: 'exited', ...exit, ...(why && { why }), ...(used && { used }) }
  one.settle(one.end)
  return one
}

const isUnknown = ({ exitCode, signal }: RecordedExit): boolean => exitCode === null && signal === null

/** After a restart of the machine no process is known as that of a record. */
const unseenBecause = (records: Records, workload: Workload): EndReason =>
  records.processOf(workload) === undefined ? 'unseen' : 'monitor_killed'
