/**
 * Keeps a reserve of every file system free. Free space and files are read once a second, which costs next to nothing; only when one falls
 * under its reserve is each user measured, and the one to blame stopped, until there is space again. Services that were stopped stay down
 * meanwhile.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { measureEach, measureFolders } from '../../platform/process/measure-folders.ts'
import { describeError } from '../../platform/server-log.ts'
import { allowedOn, heaviestUser, SMALL_GROWTH, type SpaceUser } from '../../runtime/space/heaviest-user.ts'
import { nextCheckMs, type Shortage, type Spaces, shortageIn, spacesOf, type Unit } from '../../runtime/space/reserve.ts'
import { hasWorkloads } from '../../runtime/workloads/store.ts'
import { straysIn } from '../../runtime/workloads/strays.ts'
import type { AppContext } from '../context.ts'
import { unfinishedDeploys } from '../deploys/store.ts'
import { type Candidate, candidatesOf } from './candidates.ts'
import { clearUpAfterFullest } from './clear-up.ts'
import { holdBack, stopHeaviest } from './stop.ts'

const BETWEEN_SWEEPS_MS = 250
const CALM_MS = 1000
const REMIND_MS = 60_000
const CLEAR_UP_MS = 5000

interface Watch {
  context: AppContext
  held: Map<string, number>
  down: Set<string>
  shortOf: Unit | undefined
  remindedAt: number
  clearedUpAt: number
}

export function startDiskGuard(context: AppContext): void {
  if (context.config.CP_DISK_RESERVE_MB === 0) return
  const watch: Watch = {
    context,
    held: new Map(),
    down: new Set(),
    shortOf: undefined,
    remindedAt: Number.NEGATIVE_INFINITY,
    clearedUpAt: Number.NEGATIVE_INFINITY,
  }
  keepWatch(watch).catch((error) => {
    if (!context.stopping.aborted) context.log.error('the disk is not watched any more', describeError(error))
  })
}

async function keepWatch(watch: Watch): Promise<void> {
  const { context } = watch
  const settingMb = context.config.CP_DISK_RESERVE_MB
  let before = measureSpaces(context)
  for (;;) {
    const now = measureSpaces(context)
    const shortage = shortageIn(now, settingMb)
    if (shortage?.unit !== watch.shortOf) watch.held.clear()
    watch.shortOf = shortage?.unit
    if (shortage === undefined) watch.down.clear()
    const delayMs = shortage === undefined ? nextCheckMs(before, now, settingMb) : await whileShort(watch, shortage)
    before = now
    await sleep(delayMs, undefined, { signal: context.stopping, ref: false })
  }
}

async function whileShort(watch: Watch, shortage: Shortage): Promise<number> {
  const { context, down } = watch
  for (const id of down) holdBack(context, id)
  try {
    return await sweep(watch, shortage)
  } catch (error) {
    context.stopping.throwIfAborted()
    context.log.error('the disk could not be measured', describeError(error))
    return CALM_MS
  }
}

const isUsed = ({ db }: AppContext): boolean => hasWorkloads(db) || unfinishedDeploys(db).length > 0 || straysIn(db).length > 0

async function sweep(watch: Watch, shortage: Shortage): Promise<number> {
  const { context, held, down } = watch
  const candidates = isUsed(context) ? candidatesOf(context) : []
  const users = await measure(watch, candidates, shortage)
  const heaviest = heaviestUser(users, SMALL_GROWTH[shortage.unit])
  const isFirst = held.size === 0
  for (const { id, held: amount } of users) held.set(id, amount)
  const candidate = candidates.find(({ id }) => id === heaviest?.id)
  if (heaviest === undefined || candidate === undefined) {
    if (isFirst && users.length > 0) return BETWEEN_SWEEPS_MS
    return await withNobodyToBlame(watch, shortage)
  }
  context.log.error('the disk is short of space', { ...told(shortage), stopped: heaviest.id })
  if (heaviest.kind === 'service') down.add(heaviest.id)
  await stopHeaviest(context, candidate, { heaviest, shortage })
  held.delete(heaviest.id)
  return BETWEEN_SWEEPS_MS
}

async function measure({ context, held, down }: Watch, candidates: readonly Candidate[], shortage: Shortage): Promise<SpaceUser[]> {
  const { unit } = shortage
  const folders = await measureFolders(
    candidates.flatMap((candidate) => candidate.folders),
    unit,
    context.stopping,
  )
  const volumes = await measureEach(
    candidates.flatMap(({ volumeId }) => volumeId ?? []),
    (id) => context.engine.volumes.usage(id, unit, context.stopping),
  )
  const services = candidates.filter(({ kind }) => kind === 'service')
  const own = await context.engine.heldSpace(
    services.map(({ owner }) => owner),
    unit,
    context.stopping,
  )
  return candidates.map(({ id, kind, folders: built, volumeId = '', diskMb }) => ({
    id,
    kind,
    held: sumOf([...built.map((folder) => folders.get(folder)), volumes.get(volumeId), own.get(id)?.amount]),
    heldBefore: held.get(id),
    // A service that was stopped is not stopped again for what it holds: somebody may be in its shell to clear it up.
    allowed: down.has(id) ? Number.POSITIVE_INFINITY : allowedOn(shortage, diskMb),
    isUnmeasured: kind === 'service' && !down.has(id) && (own.get(id)?.isPartial !== false || (volumeId !== '' && !volumes.has(volumeId))),
  }))
}

const sumOf = (parts: readonly (number | undefined)[]): number => parts.reduce<number>((sum, part) => sum + (part ?? 0), 0)

async function withNobodyToBlame(watch: Watch, shortage: Shortage): Promise<number> {
  const { context } = watch
  if (context.now() - watch.clearedUpAt < CLEAR_UP_MS) return CALM_MS
  const isSpaceFreed = await clearUpAfterFullest(context, shortage.unit)
  if (isSpaceFreed) return BETWEEN_SWEEPS_MS
  watch.clearedUpAt = context.now()
  remind(watch, shortage)
  return CALM_MS
}

function remind(watch: Watch, shortage: Shortage): void {
  const { log, paths, now } = watch.context
  if (now() - watch.remindedAt < REMIND_MS) return
  watch.remindedAt = now()
  const message = `The disk of ${paths.data} is short of ${NAMES[shortage.unit]} and no service is to blame. Free some, or deploys will fail.`
  log.error(message, told(shortage))
}

const NAMES: Record<Unit, string> = { bytes: 'space', files: 'room for files' }

const told = ({ unit, free, reserve }: Shortage) =>
  unit === 'bytes' ? { freeBytes: free, reserveBytes: reserve } : { freeFiles: free, reserveFiles: Math.ceil(reserve) }

const measureSpaces = ({ paths }: Pick<AppContext, 'paths'>): Spaces & { at: number } => ({
  ...spacesOf(paths.services),
  at: performance.now(),
})
