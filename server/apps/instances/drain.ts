import { describeError } from '../../platform/server-log.ts'
import { pause } from '../../platform/work/clock.ts'
import type { AppContext } from '../context.ts'
import { diskOfService } from '../disks/store.ts'
import type { StoredInstance } from '../workloads/instance-store.ts'
import { hasSiblings } from './siblings.ts'

const DRAIN_POLL_MS = 50
/** With a disk nothing serves until the instance has gone, so its requests have less time. */
const WAITED_FOR_DRAIN_MS = 5000
/** An ingress that is being replaced is back before this; one that is away for longer holds no requests of ours. */
const INGRESS_ABSENCE_MS = 3000

export async function awaitRequests(context: AppContext, instance: StoredInstance, signal: AbortSignal): Promise<void> {
  const isWaitedFor = diskOfService(context.db, instance.serviceId) !== undefined
  const longestMs = context.config.CP_DRAIN_SECONDS * 1000
  const deadline = (instance.drainingAt ?? context.now()) + (isWaitedFor ? Math.min(longestMs, WAITED_FOR_DRAIN_MS) : longestMs)
  let seenAt = context.now()
  for (;;) {
    const isBusy = await askWhetherBusy(context, instance)
    if (isBusy === false) return
    const now = context.now()
    if (isBusy === true) seenAt = now
    else if (now - seenAt >= INGRESS_ABSENCE_MS) return
    if (now >= deadline) return await cutOff(context, instance.id)
    await pause(context, DRAIN_POLL_MS, signal)
  }
}

async function askWhetherBusy({ ingress, engine }: AppContext, instance: StoredInstance): Promise<boolean | undefined> {
  if (await hasSiblings(engine, instance)) return true
  try {
    const { inFlight, tunnels } = await ingress.drainState(instance.id)
    return inFlight > 0 || tunnels > 0
  } catch {
    return undefined
  }
}

async function cutOff(context: AppContext, instanceId: string): Promise<void> {
  try {
    await context.ingress.closeTunnels(instanceId)
    await context.ingress.abortRequests(instanceId)
  } catch (error) {
    context.log.error('requests not cut off', { instanceId, ...describeError(error) })
  }
}
