import { diskOfService } from '../../apps/disks/store.ts'
import { isDatastoreId } from '../../apps/owners/owners.ts'
import { serviceById } from '../../apps/services/store.ts'
import { isStepId } from '../../apps/workloads/step-store.ts'
import { describeError } from '../../platform/server-log.ts'
import { workloadById } from '../../runtime/workloads/store.ts'
import {
  endOf,
  endOldStrays,
  endStrays,
  type Stray,
  type StrayEnd,
  type StrayOptions,
  sortStrays,
  straysIn,
} from '../../runtime/workloads/strays.ts'
import type { ListedStray } from '../serve-socket/operations.ts'
import type { Context } from './context.ts'
import { sweepFolders } from './sweep-folders.ts'

/** At a start, before anything is started: sets aside what the engine runs and the database does not know, and reports it each time. */
export async function setStraysAside(context: Context): Promise<void> {
  await sortStrays(strayOptions(context))
  for (const stray of straysIn(context.db)) {
    const message = 'The engine runs this, and the database does not know it. It gets no requests, and is ended then: see `cpd strays`.'
    context.log.error('stray workload set aside', { ...namesOf(stray), endsAt: isoOf(endOf(stray)), message })
  }
}

/** Ends the strays whose time is over, and sweeps what they stood on. */
export const tendStrays = (context: Context): Promise<void> => sweepingAfter(context, () => endOldStrays(strayOptions(context)))

export const listStrays = ({ db }: Pick<Context, 'db'>): ListedStray[] =>
  straysIn(db).map((stray) => {
    const service = serviceById(db, stray.serviceId)
    const known = service === undefined ? {} : { serviceName: service.name, workspaceId: service.workspaceId }
    return { id: stray.id, serviceId: stray.serviceId, ...known, foundAt: isoOf(stray.foundAt), endsAt: isoOf(endOf(stray)) }
  })

/** Ends these for an operator. Returns when nothing of them is left, with those that are strays still. */
export async function endStraysFor(context: Context, ids: readonly string[]): Promise<ListedStray[]> {
  await sweepingAfter(context, () => endStrays(strayOptions(context), ids))
  return listStrays(context)
}

async function sweepingAfter(context: Context, endSome: () => Promise<void>): Promise<void> {
  const before = straysIn(context.db).length
  await endSome()
  if (before === 0 || straysIn(context.db).length > 0) return
  sweepFolders(context).catch((error) => {
    if (!context.stopping.aborted) context.log.error('folders not swept', describeError(error))
  })
}

/** Two instances on one disk would damage what is on it, so a service with a disk keeps no strays; and nobody waits for a command of a deploy. */
function strayOptions({ db, engine, log, now, audit }: Context): StrayOptions {
  return {
    ...{ db, engine, now },
    isKnown: (id) => workloadById(db, id) !== undefined,
    mayStay: ({ instanceId, ownerId }) => !isStepId(instanceId) && !isDatastoreId(ownerId) && diskOfService(db, ownerId) === undefined,
    onFound(stray) {
      const { workloadId: target, ...metadata } = namesOf(stray)
      audit.report({ event: 'server.stray_found', target, metadata: { ...metadata, endsAt: isoOf(endOf(stray)) } })
    },
    onEnded(stray, why) {
      const { workloadId: target, ...metadata } = namesOf(stray)
      log.info('stray workload ended', { workloadId: target, ...metadata, why: reasons[why] })
      audit.report({ event: 'server.stray_ended', target, metadata: { ...metadata, why: reasons[why] } })
    },
  }
}

const reasons: Record<StrayEnd, string> = { expired: 'its time was over', asked: 'cpd strays end', exited: 'it ended by itself' }

const namesOf = ({ id, serviceId }: Stray) => ({ workloadId: id, serviceId })

const isoOf = (time: number): string => new Date(time).toISOString()
