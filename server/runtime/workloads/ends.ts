import type { Database } from 'bun:sqlite'
import { AppError } from '../../../shared/error.ts'
import type { EndReason } from '../../engines/port/end.ts'
import type { ExitedState } from '../../engines/port/port.ts'
import { inOneChange } from '../../platform/db/change.ts'
import { describeError } from '../../platform/server-log.ts'
import { nextRestartDelayMs } from './backoff.ts'
import type { Keeping } from './keeping.ts'
import type { WorkloadEnd } from './owner.ts'
import type { WorkloadStep } from './plan.ts'
import { setById, updateSet } from './set-store.ts'
import { deleteWorkload, type StoredWorkload, updateWorkload, type WorkloadChange, type WorkloadExit, workloadById } from './store.ts'

const KEPT_EXITS = 10

type EndStep = Extract<WorkloadStep, { kind: 'interrupted' | 'failed' | 'over' }>

export async function noteEnd(keeping: Keeping, workload: StoredWorkload, step: EndStep): Promise<void> {
  const { engine, now } = keeping
  if (step.kind === 'over') return await noteOver(keeping, workload, step.exit)
  if (step.kind === 'failed') noteFailure(keeping, workload, exitAt(now(), step.exit))
  else noteInterruption(keeping, workload, step)
  await engine.remove(workload.id)
}

export async function forgetWorkload({ db, engine, ownerOf, frozen }: Keeping, workload: StoredWorkload): Promise<void> {
  await engine.remove(workload.id)
  deleteWorkload(db, workload.id)
  frozen.delete(workload.id)
  await ownerOf(workload).onRemoved?.(workload)
}

export async function noteFailedStart(keeping: Keeping, workload: StoredWorkload, error: unknown): Promise<void> {
  const owner = keeping.ownerOf(workload)
  const { purpose, policy } = owner
  const isOver = policy.restarts === 'never'
  // What a person can mend is told to that person.
  if (!isOver || !(error instanceof AppError))
    keeping.log.error(`${purpose} not started`, { [`${purpose}Id`]: workload.id, ...describeError(error) })
  if (!isOver) return noteFailure(keeping, workload, { at: keeping.now(), exitCode: null, signal: null })
  await owner.closeOutput(workload)
  const isWritten = writeEnd(keeping, { workload, end: { kind: 'refused', error }, change: { phase: 'ended', address: null } })
  if (isWritten) await forgetWorkload(keeping, workload)
}

/** Writes down that a workload is over. Whoever is told of the end finds all of its output, so that is stored first. Repeatable. */
export async function noteOver(keeping: Keeping, workload: StoredWorkload, exit: ExitedState | undefined): Promise<void> {
  await keeping.ownerOf(workload).closeOutput(workload)
  const reason = keeping.exitReasons.take(workload.id)
  writeEnd(keeping, { workload, end: { kind: 'over', exit, reason }, change: { phase: 'ended', address: null } })
}

function noteFailure(keeping: Keeping, workload: StoredWorkload, seen: WorkloadExit): void {
  const { exitReasons, now, ownerOf } = keeping
  const reason = exitReasons.take(workload.id)
  const exit = reason === undefined ? seen : { ...seen, reason }
  const exits = [...workload.exits, exit].slice(-KEPT_EXITS)
  const delayMs = nextRestartDelayMs(exits, now(), ownerOf(workload).policy.longestDelayMs)
  const change = { phase: 'pending', address: null, exits, restarts: workload.restarts + 1, startAt: now() + delayMs } as const
  writeEnd(keeping, { workload, end: { kind: 'failed', exit, delayMs }, change })
}

function noteInterruption(keeping: Keeping, workload: StoredWorkload, { why }: { why: EndReason | undefined }): void {
  const change = { phase: 'pending', address: null, startAt: keeping.now() } as const
  writeEnd(keeping, { workload, end: { kind: 'interrupted', why }, change })
}

interface Written {
  workload: StoredWorkload
  end: WorkloadEnd
  change: WorkloadChange
}

/** Returns false, with nothing written, when the owner has moved the workload elsewhere meanwhile. */
function writeEnd({ db, ownerOf }: Keeping, { workload, end, change }: Written): boolean {
  return inOneChange(db, () => {
    if (workloadById(db, workload.id)?.phase !== workload.phase) return false
    ownerOf(workload).onEnd?.(workload, end)
    updateWorkload(db, workload.id, change)
    if (change.phase === 'ended' && workload.phase !== 'stopping') giveUpPlace(db, workload)
    return true
  })
}

/** What ended by itself and is not restarted leaves its set with one replica less, and with the last of them the set is over. */
function giveUpPlace(db: Database, { setId }: StoredWorkload): void {
  const set = setId === null ? undefined : setById(db, setId)
  if (set === undefined) return
  const replicas = Math.max(0, set.replicas - 1)
  updateSet(db, set.id, { replicas, isDropped: set.isDropped || replicas === 0 })
}

const exitAt = (at: number, { exitCode, signal, why }: ExitedState): WorkloadExit => ({ at, exitCode, signal, ...(why && { why }) })
