/**
 * Keeps everything that engines run for somebody as its row says: starts it, sees it end, starts it again after a pause, drains and stops
 * it. What differs between kinds of owners is their policy. A workload is supervised by one caller at a time: by the plan of an owner that
 * says itself when things start, and by the driver in here for all others.
 */
import type { InstanceState } from '../../engines/port/port.ts'
import { describeError } from '../../platform/server-log.ts'
import { createDriver } from '../../platform/work/driver.ts'
import { type Background, createBackground } from './background.ts'
import { forgetWorkload, noteEnd } from './ends.ts'
import type { WorkloadOwner } from './owner.ts'
import { planWorkload, type WorkloadStep } from './plan.ts'
import { keepWorkload, startWorkload } from './start.ts'
import { stopWorkload } from './stop.ts'
import { allWorkloads, type StoredWorkload, type WorkloadPhase, workloadById } from './store.ts'
import type { Supervision, SupervisorOptions } from './supervision.ts'

export interface Supervisor {
  /** Brings a workload to what its row says. Returns when to look again though nothing happens (ms since 1970), or undefined. */
  supervise(id: string): Promise<number | undefined>
  start(id: string): Promise<void>
  poke(id: string): boolean
  pokeAll(): void
  /** Before anything is supervised: goes on to collect output, and forgets what has ended. */
  recover(): Promise<void>
  settled(): Promise<void>
}

const MAX_STEPS = 20
const STUCK_RETRY_MS = 5000

export function createSupervisor(options: SupervisorOptions, owners: readonly WorkloadOwner[]): Supervisor {
  const { db, log, now, after, signal } = options
  const byKey = new Map(owners.map((owner) => [keyOf(owner), owner]))
  const ownerOf = (workload: StoredWorkload): WorkloadOwner => {
    const owner = byKey.get(keyOf(workload))
    if (owner === undefined) throw new Error(`Nobody owns workloads like ${workload.id}: ${keyOf(workload)}`)
    return owner
  }
  /** What is held by a terminal has nobody here: whoever opened it ends it, or the next start. */
  const isOwned = (workload: StoredWorkload): boolean => byKey.has(keyOf(workload))
  const changed = (workload: StoredWorkload) => {
    const { policy, onChange } = ownerOf(workload)
    if (signal.aborted) return
    if (policy.starts === 'when_due') driver.poke(workload.id)
    else onChange?.(workload)
  }
  const supervision: Supervision = { ...options, ownerOf, changed }
  const background = createBackground((key, error) => {
    if (!signal.aborted) log.error('background work failed', { work: key, ...describeError(error) })
  })
  const supervise = (id: string) => superviseOne(supervision, background, id)
  const driver = createDriver({
    run: supervise,
    onError: (workloadId, error) => log.error('workload not supervised', { workloadId, ...describeError(error) }),
    now,
    after,
    signal,
  })
  return {
    supervise,
    start: (id) => startWorkload(supervision, id),
    poke(id) {
      const workload = workloadById(db, id)
      if (workload !== undefined && isOwned(workload)) changed(workload)
      return workload !== undefined
    },
    pokeAll() {
      for (const workload of allWorkloads(db).filter(isOwned))
        if (workload.phase === 'ended' || ownerOf(workload).policy.starts === 'when_due') driver.poke(workload.id)
    },
    async recover() {
      const all = allWorkloads(db).filter(isOwned)
      for (const workload of all) if (workload.phase !== 'ended') ownerOf(workload).follow(workload)
      for (const workload of all) if (workload.phase === 'ended') await forgetWorkload(supervision, workload)
    },
    settled: async () => void (await Promise.all([driver.settled(), background.settled()])),
  }
}

const keyOf = ({ ownerKind, purpose }: Pick<WorkloadOwner, 'ownerKind' | 'purpose'>): string => `${ownerKind}/${purpose}`

async function superviseOne(supervision: Supervision, background: Background, id: string): Promise<number | undefined> {
  for (let steps = 0; steps < MAX_STEPS; steps++) {
    const seen = await inspectBegun(supervision, id)
    // Asking the engine has taken its time: the row is read anew.
    const workload = workloadById(supervision.db, id)
    if (workload === undefined) return undefined
    const step = stepFor(supervision, workload, seen)
    if (step.kind === 'wait') return step.until
    if (step.kind === 'keep' || step.kind === 'stop') {
      if (step.kind === 'stop') stopBeside(supervision, background, workload)
      else keepWorkload(supervision, background, { workload, endpoint: step.endpoint })
      return undefined
    }
    await take(supervision, workload, step)
  }
  supervision.log.error('workload does not settle', { workloadId: id })
  return supervision.now() + STUCK_RETRY_MS
}

async function inspectBegun({ db, engine }: Supervision, id: string): Promise<Seen> {
  const phase = workloadById(db, id)?.phase
  const isBegun = phase === 'starting' || phase === 'running'
  return { phase, state: isBegun ? await engine.inspect(id) : undefined }
}

interface Seen {
  phase: WorkloadPhase | undefined
  state: InstanceState | undefined
}

function stepFor(supervision: Supervision, workload: StoredWorkload, seen: Seen): WorkloadStep | { kind: 'again' } {
  // Nothing is concluded from what was asked about another phase.
  if (workload.phase !== seen.phase) return { kind: 'again' }
  const { policy } = supervision.ownerOf(workload)
  return planWorkload({ now: supervision.now(), workload, seen: seen.state, policy, epoch: supervision.engine.epoch })
}

type BriefStep = Exclude<WorkloadStep, { kind: 'wait' | 'keep' | 'stop' }> | { kind: 'again' }

async function take(supervision: Supervision, workload: StoredWorkload, step: BriefStep): Promise<void> {
  switch (step.kind) {
    case 'again':
      return
    case 'start':
      return await startWorkload(supervision, workload.id)
    case 'forget':
      return await forgetWorkload(supervision, workload)
    default:
      return await noteEnd(supervision, workload, step)
  }
}

function stopBeside(supervision: Supervision, background: Background, workload: StoredWorkload): void {
  background.run(`stop ${workload.id}`, async () => {
    try {
      await stopWorkload(supervision, workload)
    } finally {
      supervision.changed(workload)
    }
  })
}
