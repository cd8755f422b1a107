import { setTimeout as sleep } from 'node:timers/promises'
import { servicePathsOf } from '../../platform/paths.ts'
import { describeError } from '../../platform/server-log.ts'
import { unlessAborted } from '../../platform/work/unless-aborted.ts'
import type { AppContext } from '../context.ts'
import { pruneReleases } from '../deploys/prune.ts'
import { releaseById } from '../deploys/release-store.ts'
import { diskOfService } from '../disks/store.ts'
import { outputPathOf } from '../launch/launch.ts'
import { defaultSettings } from '../services/settings.ts'
import { deleteInstance, instancesOf, type StoredInstance } from '../workloads/instance-store.ts'

const DRAIN_POLL_MS = 50
/** Of a service with a disk, nothing serves until the instance has gone, so its requests have less time. */
const WAITED_FOR_DRAIN_MS = 5000
/** An ingress that is being replaced is back before this; one that is away for longer holds no requests of ours. */
const INGRESS_ABSENCE_MS = 3000

/**
 * Takes an instance off the machine: out of the routes, waits for its requests, closes its WebSockets at the deadline, stops it,
 * stores the rest of its output and forgets it. Every step can be repeated, so a drain that was cut off starts over.
 *
 * @throws the signal's reason when aborted.
 */
export async function drainInstance(context: AppContext, instance: StoredInstance, signal: AbortSignal): Promise<void> {
  // An earlier control plane may have died before the routes said what its database did.
  await context.routes.publish()
  await awaitRequests(context, instance, signal)
  const settings = releaseById(context.db, instance.releaseId)?.settings ?? defaultSettings
  // What is being stopped ends without us, and the next control plane sees to the rest.
  await unlessAborted(context.engine.stop(instance.id, { graceMs: settings.maxShutdownDelaySeconds * 1000 }), signal)
  await context.engine.remove(instance.id)
  signal.throwIfAborted()
  const path = outputPathOf(servicePathsOf(context.paths, instance.serviceId), instance.id)
  await context.collector.remove(path)
  signal.throwIfAborted()
  deleteInstance(context.db, instance.id)
  const isReleaseUsed = instancesOf(context.db, instance.serviceId).some(({ releaseId }) => releaseId === instance.releaseId)
  if (!isReleaseUsed) await pruneReleases(context, instance.serviceId)
}

async function awaitRequests(context: AppContext, instance: StoredInstance, signal: AbortSignal): Promise<void> {
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
    await sleep(DRAIN_POLL_MS, undefined, { signal })
  }
}

/** Undefined when the ingress does not tell. */
async function askWhetherBusy({ ingress, engine }: AppContext, { id, port }: StoredInstance): Promise<boolean | undefined> {
  // Its siblings do not go through the ingress; whether they wait for an answer cannot be seen, only that they are connected.
  if ((await engine.siblingConnections(id, port)) > 0) return true
  try {
    const { inFlight, tunnels } = await ingress.drainState(id)
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
