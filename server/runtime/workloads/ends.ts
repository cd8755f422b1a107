import { AppError } from '../../../shared/error.ts'
import type { EndReason } from '../../engines/port/end.ts'
import type { ExitedState } from '../../engines/port/port.ts'
import { inOneChange } from '../../platform/db/change.ts'
import { describeError } from '../../platform/server-log.ts'
import { nextRestartDelayMs } from './backoff.ts'
import type { WorkloadEnd } from './owner.ts'
import type { WorkloadStep } from './plan.ts'
import { deleteWorkload, type StoredWorkload, updateWorkload, type WorkloadChange, type WorkloadExit, workloadById } from './store.ts'
import type { Supervision } from './supervision.ts'

const KEPT_EXITS = 10

type EndStep = Extract<WorkloadStep, { kind: 'interrupted' | 'failed' | 'over' }>

export async function noteEnd(supervision: Supervision, workload: StoredWorkload, step: EndStep): Promise<void> {
  const { engine, now } = supervision
  if (step.kind === 'over') return await noteOver(supervision, workload, step.exit)
  if (step.kind === 'failed') noteFailure(supervision, workload, exitAt(now(), step.exit))
  else noteInterruption(supervision, workload, step)
  await engine.remove(workload.id)
}

export async function forgetWorkload({ db, engine, ownerOf }: Supervision, workload: StoredWorkload): Promise<void> {
  await engine.remove(workload.id)
  deleteWorkload(db, workload.id)
  await ownerOf(workload).onRemoved?.(workload)
}

export async function noteFailedStart(supervision: Supervision, workload: StoredWorkload, error: unknown): Promise<void> {
  const owner = supervision.ownerOf(workload)
  const { purpose, policy } = owner
  const isOver = policy.restarts === 'never'
  // What a person can mend is told to that person.
  if (!isOver || !(error instanceof AppError))
    supervision.log.error(`${purpose} not started`, { [`${purpose}Id`]: workload.id, ...describeError(error) })
  if (!isOver) return noteFailure(supervision, workload, { at: supervision.now(), exitCode: null, signal: null })
  await owner.closeOutput(workload)
  const isWritten = writeEnd(supervision, { workload, end: { kind: 'refused', error }, change: { phase: 'ended', address: null } })
  if (isWritten) await forgetWorkload(supervision, workload)
}

/** Writes down that a workload is over. Whoever is told of the end finds all of its output, so that is stored first. Repeatable. */
export async function noteOver(supervision: Supervision, workload: StoredWorkload, exit: ExitedState | undefined): Promise<void> {
  await supervision.ownerOf(workload).closeOutput(workload)
  const reason = supervision.exitReasons.take(workload.id)
  writeEnd(supervision, { workload, end: { kind: 'over', exit, reason }, change: { phase: 'ended', address: null } })
}

function noteFailure(supervision: Supervision, workload: StoredWorkload, seen: WorkloadExit): void {
  const { exitReasons, now } = supervision
  const reason = exitReasons.take(workload.id)
  const exit = reason === undefined ? seen : { ...seen, reason }
  const exits = [...workload.exits, exit].slice(-KEPT_EXITS)
  const delayMs = nextRestartDelayMs(exits, now())
  const change = { phase: 'pending', address: null, exits, restarts: workload.restarts + 1, startAt: now() + delayMs } as const
  writeEnd(supervision, { workload, end: { kind: 'failed', exit, delayMs }, change })
}

function noteInterruption(supervision: Supervision, workload: StoredWorkload, { why }: { why: EndReason | undefined }): void {
  const change = { phase: 'pending', address: null, startAt: supervision.now() } as const
  writeEnd(supervision, { workload, end: { kind: 'interrupted', why }, change })
}

interface Written {
  workload: StoredWorkload
  end: WorkloadEnd
  change: WorkloadChange
}

/** Returns false, with nothing written, when the owner has moved the workload elsewhere meanwhile. */
function writeEnd({ db, ownerOf }: Supervision, { workload, end, change }: Written): boolean {
  return inOneChange(db, () => {
    if (workloadById(db, workload.id)?.phase !== workload.phase) return false
    ownerOf(workload).onEnd?.(workload, end)
    updateWorkload(db, workload.id, change)
    return true
  })
}

const exitAt = (at: number, { exitCode, signal, why }: ExitedState): WorkloadExit => ({ at, exitCode, signal, ...(why && { why }) })
