/**
 * Keeps some of the disk free for the control plane and for those who behave, on every file system: it looks at the free space
 * once a second, which costs next to nothing, and only when that falls under the reserve it measures who holds how much, stops whoever is
 * to blame, and repeats that until there is space again. What was stopped stays down as long as there is none.
 */
import { statfsSync, statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Context } from '../context.ts'
import { unfinishedDeploys } from '../deploys/store.ts'
import { hasInstances } from '../instances/store.ts'
import { allOpenJobs } from '../jobs/store.ts'
import { describeError } from '../server-log.ts'
import { type Candidate, candidatesOf } from './candidates.ts'
import { allowedOn, chooseHog, type Holder } from './hog.ts'
import { measureFolders, measureRemoved } from './measure.ts'
import { nextLookMs, reserveBytes, type Space } from './reserve.ts'
import { holdBack, stopHog } from './stop.ts'

/** Between two measurements, so that growth shows. */
const BETWEEN_SWEEPS_MS = 250
const CALM_MS = 1000
/** Once a minute the operator is reminded that space is short though no service is to blame. */
const REMIND_MS = 60_000

interface Watch {
  context: Context
  /** What everybody held at the last measurement, by id. */
  held: Map<string, number>
  /** Ids of services that stay down until there is space. */
  down: Set<string>
  remindedAt: number
}

/** Watches the disk until the control plane stops. */
export function startDiskGuard(context: Context): void {
  if (context.config.CP_DISK_RESERVE_MB === 0) return
  const watch: Watch = { context, held: new Map(), down: new Set(), remindedAt: Number.NEGATIVE_INFINITY }
  keepWatch(watch).catch((error) => {
    if (!context.stopping.aborted) context.log.error('the disk is not watched any more', describeError(error))
  })
}

async function keepWatch(watch: Watch): Promise<void> {
  const { context } = watch
  let before = lookAt(context)
  for (;;) {
    const now = lookAt(context)
    const reserve = reserveBytes(now, context.config.CP_DISK_RESERVE_MB)
    const delayMs = now.freeBytes < reserve ? await whileShort(watch, now, reserve) : whileAmple(watch, { before, now, reserve })
    before = now
    await sleep(delayMs, undefined, { signal: context.stopping, ref: false })
  }
}

function whileAmple(watch: Watch, { before, now, reserve }: { before: Look; now: Look; reserve: number }): number {
  watch.held.clear()
  watch.down.clear()
  return nextLookMs(before, now, reserve)
}

async function whileShort(watch: Watch, space: Look, reserve: number): Promise<number> {
  const { context, down } = watch
  for (const id of down) holdBack(context, id)
  if (!isUsed(context)) return CALM_MS
  try {
    return await sweep(watch, space, reserve)
  } catch (error) {
    context.stopping.throwIfAborted()
    context.log.error('the disk could not be measured', describeError(error))
    return CALM_MS
  }
}

/** Whether somebody is here who could be to blame. */
const isUsed = ({ db, shells }: Context): boolean =>
  hasInstances(db) || unfinishedDeploys(db).length > 0 || allOpenJobs(db).length > 0 || shells.serviceIds().length > 0

/** Measures, and stops one. Returns when to look again. */
async function sweep(watch: Watch, space: Look, reserve: number): Promise<number> {
  const { context, held, down } = watch
  const candidates = await candidatesOf(context)
  const holders = await measure(watch, candidates, space)
  const hog = chooseHog(holders)
  const isFirst = held.size === 0
  for (const { id, heldBytes } of holders) held.set(id, heldBytes)
  const candidate = candidates.find(({ id }) => id === hog?.id)
  if (hog === undefined || candidate === undefined) {
    if (isFirst) return BETWEEN_SWEEPS_MS
    remind(watch, space, reserve)
    return CALM_MS
  }
  context.log.error('the disk is short of space', { freeBytes: space.freeBytes, reserveBytes: reserve, stopped: hog.id })
  if (hog.kind === 'service') down.add(hog.id)
  await stopHog(context, candidate, { hog, space, reserve })
  held.delete(hog.id)
  return BETWEEN_SWEEPS_MS
}

async function measure({ context, held, down }: Watch, candidates: readonly Candidate[], space: Look): Promise<Holder[]> {
  const folders = await measureFolders(
    candidates.flatMap((candidate) => candidate.folders),
    context.stopping,
  )
  const services = candidates.filter(({ kind }) => kind === 'service')
  const removed = measureRemoved(new Set(services.map(({ service }) => service.uid)), space.device)
  return candidates.map(({ id, kind, service, folders: own, diskMb }) => ({
    id,
    kind,
    heldBytes: own.reduce((sum, folder) => sum + (folders.get(folder) ?? 0), kind === 'service' ? (removed.get(service.uid) ?? 0) : 0),
    heldBeforeBytes: held.get(id),
    // What was stopped is not stopped again for what it holds: somebody may be in its shell to clear it up.
    allowedBytes: down.has(id) ? Number.POSITIVE_INFINITY : allowedOn(space.totalBytes, diskMb),
    isUnmeasured: kind === 'service' && !down.has(id) && own.some((folder) => !folders.has(folder)),
  }))
}

function remind(watch: Watch, { freeBytes }: Space, reserve: number): void {
  const { log, paths, now } = watch.context
  if (now() - watch.remindedAt < REMIND_MS) return
  watch.remindedAt = now()
  const message = `The disk of ${paths.data} is short of space and no service is to blame. Free some, or deploys will fail.`
  log.error(message, { freeBytes, reserveBytes: reserve })
}

type Look = Space & { at: number; device: number }

function lookAt({ paths }: Pick<Context, 'paths'>): Look {
  const { bsize, blocks, bavail } = statfsSync(paths.services)
  return { totalBytes: blocks * bsize, freeBytes: bavail * bsize, at: performance.now(), device: statSync(paths.services).dev }
}
