import { setImmediate as nextTurn } from 'node:timers/promises'
import { AppError } from '../../../shared/error.ts'
import { describeError } from '../../platform/server-log.ts'
import { createDriver } from '../../platform/work/driver.ts'
import { createPlaces } from '../../platform/work/places.ts'
import type { AppContext } from '../context.ts'
import { type StoredService, serviceById, servicesWithRepository } from '../services/store.ts'
import { locate } from '../source-hosts/hosts/credential.ts'
import { ifConfigured } from '../source-hosts/hosts/open.ts'
import { pauseAfterError, pausedUntil } from '../source-hosts/store/pauses.ts'
import { lookAtRequests } from './look.ts'
import { reconcilePreviews } from './reconcile.ts'
import { hasPreviews } from './requests.ts'
import { parentsWithPreviews } from './store.ts'
import { tellRequests } from './tell.ts'

const LOOK_MS = 5 * 60_000
const HOSTS_AT_ONCE = 4

export interface PreviewWork {
  /** Has a service's requests seen to: what follows from what is known of them, and then the host told and asked. */
  poke(parentId: string): void
  ofWorkspace(workspaceId: string): void
  pokeAll(): void
  settled(): Promise<void>
}

/** Two drivers, as a host that is slow keeps nobody's preview from being made or removed. */
export function createPreviewWork(context: AppContext): PreviewWork {
  const places = createPlaces(HOSTS_AT_ONCE)
  const lookedAt = new Map<string, number>()
  const kinds = {
    onError: (serviceId: string, error: unknown) => context.log.error('previews not seen to', { serviceId, ...describeError(error) }),
    now: context.now,
    after: context.after,
    signal: context.stopping,
  }
  const steps = createDriver({ ...kinds, run: (parentId) => reconcileInTurn(context, parentId) })
  const talks = createDriver({ ...kinds, run: (parentId) => places.run(() => talk(context, parentId, lookedAt)) })
  const poke = (parentId: string): void => {
    steps.poke(parentId)
    talks.poke(parentId)
  }
  return {
    poke,
    ofWorkspace: (workspaceId) => parentsWithPreviews(context.db, workspaceId).forEach(poke),
    pokeAll() {
      const looking = servicesWithRepository(context.db).filter(hasPreviews)
      for (const id of new Set([...looking.map(({ id }) => id), ...parentsWithPreviews(context.db)])) poke(id)
    },
    settled: async () => void (await Promise.all([steps.settled(), talks.settled()])),
  }
}

/** Others have a turn before each run, whatever has the next one asked for: a lane goes on by microtasks alone. */
async function reconcileInTurn(context: AppContext, parentId: string): Promise<number | undefined> {
  await nextTurn()
  return context.stopping.aborted ? undefined : reconcilePreviews(context, parentId)
}

/** The first look comes with the start, which shows what happened while nobody listened. */
async function talk(context: AppContext, parentId: string, lookedAt: Map<string, number>): Promise<number | undefined> {
  const parent = serviceById(context.db, parentId)
  if (parent === undefined || parent.deletedAt !== null) {
    lookedAt.delete(parentId)
    return undefined
  }
  const lookAt = (lookedAt.get(parentId) ?? Number.NEGATIVE_INFINITY) + LOOK_MS
  if (hasPreviews(parent) && lookAt <= context.now()) {
    lookedAt.set(parentId, context.now())
    await look(context, parent)
  }
  return await tellRequests(context, parentId)
}

async function look(context: AppContext, parent: StoredService): Promise<void> {
  const { db, log, now, stopping } = context
  const { installation } = ifConfigured(() => locate(context, parent.workspaceId, parent.labels.repo)) ?? {}
  if (installation === undefined || pausedUntil(db, installation.id) > now()) return
  try {
    await lookAtRequests(context, parent, stopping)
  } catch (error) {
    stopping.throwIfAborted()
    if (!(error instanceof AppError)) throw error
    pauseAfterError(db, installation.id, { error, now: now() })
    log.info('requests not looked at', { serviceId: parent.id, ...describeError(error) })
  }
}
