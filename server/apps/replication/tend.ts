/** Keeps those who follow a primary supplied: their places in its log, their ways to it, and another copy for whom it has gone too far. */
import { inOneChange } from '../../platform/db/change.ts'
import { describeError } from '../../platform/server-log.ts'
import { workloadsOf } from '../../runtime/workloads/store.ts'
import type { AppContext } from '../context.ts'
import { endpointOf } from '../datastores/endpoint.ts'
import type { ServerEndpoint } from '../datastores/kind.ts'
import { insertLag } from '../datastores/lag-store.ts'
import { datastoreById, followersOf, OWNER_KIND, type StoredDatastore, updateDatastore } from '../datastores/store.ts'
import { recordEvent } from '../events/store.ts'
import { slotOf } from '../postgres/following.ts'
import { asAdmin } from '../postgres/session.ts'
import { lagMs } from './lag.ts'
import { type Follower, planReplication, type ReplicationStep } from './plan.ts'
import { dropSlot, endOfLogOn, makeSlot, oldestSegmentOn, positionOn, slotsOn } from './slots.ts'

const LOOK_EVERY_MS = 15_000

interface Tended {
  datastore: StoredDatastore
  endpoint: ServerEndpoint
}

interface Primary {
  id: string
  endpoint: ServerEndpoint
}

/** Servers whose slots were looked at since this control plane began: those of followers that went while it was down are found then. */
const looked = new WeakMap<AppContext['db'], Set<string>>()

/** What is due for a server that runs, whichever side of a replication it is on. Returns when to look again (ms since 1970). Repeatable. @throws whatever refuses. */
export async function tendReplication(context: AppContext, { datastore, endpoint }: Tended): Promise<number | undefined> {
  const { id, phase, primaryId } = datastore
  if (phase !== 'ready' && primaryId === null) return undefined
  if (primaryId !== null) {
    if (phase !== 'deleting') await context.work.ways.open(datastore)
    return undefined
  }
  const seen = looked.get(context.db) ?? new Set()
  looked.set(context.db, seen)
  const start = `${id} ${endpoint.host}:${endpoint.port}`
  const isFollowed = followersOf(context.db, id).length > 0
  if (!isFollowed && seen.has(start)) return undefined
  await tendFollowers(context, { id, endpoint })
  seen.add(start)
  return isFollowed ? context.now() + LOOK_EVERY_MS : undefined
}

/** Has the server of a primary keep a place in its log for each who follows it and for nobody else. Repeatable. @throws whatever refuses. */
async function tendFollowers(context: AppContext, primary: Primary): Promise<void> {
  const following = followersOf(context.db, primary.id).filter(({ phase }) => phase !== 'deleting')
  await asAdmin(context, primary, async (sql) => {
    const [slots, oldestSegment, end] = [await slotsOn(sql), await oldestSegmentOn(sql), await endOfLogOn(sql)]
    const followers = await Promise.all(following.map((follower) => lookAt(context, follower, end)))
    for (const step of planReplication({ followers, slots, oldestSegment })) {
      if (step.kind === 'make_slot') await makeSlot(sql, step.slot)
      else if (step.kind === 'drop_slot') await dropSlot(sql, step.slot)
      else copyAnew(context, step)
    }
  })
}

async function lookAt(context: AppContext, follower: StoredDatastore, endOfPrimary: string): Promise<Follower> {
  const { id } = follower
  const endpoint = endpointOf(context, follower)
  const position = endpoint && (await asAdmin(context, { id, endpoint }, positionOn).catch(() => undefined))
  const now = context.now()
  const lag = position && lagMs(endOfPrimary, position, now)
  if (lag !== undefined && datastoreById(context.db, id) !== undefined)
    insertLag(context.db, { datastoreId: id, at: Math.floor(now / 1000), lagMs: lag })
  return { id, slot: slotOf(follower), receivedSegment: position?.receivedSegment }
}

const STALE = 'It fell further behind than its primary keeps log for, and takes all of the content anew.'

function copyAnew(context: AppContext, { id }: Extract<ReplicationStep, { kind: 'copy_anew' }>): void {
  const { db, now } = context
  inOneChange(db, () => {
    const follower = datastoreById(db, id)
    if (follower === undefined || follower.phase === 'deleting') return
    const { copy, generation, workspaceId, name, role } = follower
    updateDatastore(db, id, { copy: copy + 1, generation: generation + 1, problem: STALE }, now())
    if (role === 'replica')
      recordEvent(db, { owner: { id, workspaceId }, type: 'postgres_read_replica_stale', details: { name, reason: STALE }, now: now() })
    context.work.poke('datastore', id)
  })
}

/** Whether a follower may be started: its primary runs, and keeps log for it from now on. */
export async function mayFollow(context: AppContext, follower: StoredDatastore): Promise<boolean> {
  const primary = follower.primaryId === null ? undefined : datastoreById(context.db, follower.primaryId)
  const endpoint = primary && endpointOf(context, primary)
  if (primary?.phase !== 'ready' || endpoint === undefined) return false
  try {
    await asAdmin(context, { id: primary.id, endpoint }, (sql) => makeSlot(sql, slotOf(follower)))
    return true
  } catch (error) {
    context.log.info('primary of a replica does not answer', { datastoreId: follower.id, ...describeError(error) })
    return false
  }
}

/** Takes the place in the primary's log away of one that goes, when nothing of it runs; a primary that is down does so at its next start. */
export async function forgetFollower(context: AppContext, { id, primaryId }: StoredDatastore): Promise<void> {
  const endpoint = primaryId === null ? undefined : endpointOf(context, { id: primaryId })
  if (primaryId === null || endpoint === undefined || workloadsOf(context.db, OWNER_KIND, id).length > 0) return
  await asAdmin(context, { id: primaryId, endpoint }, (sql) => dropSlot(sql, slotOf({ id })))
}
