import { setTimeout as sleep } from 'node:timers/promises'
import type { Context } from '../context.ts'
import { releaseById } from '../deploys/release-store.ts'
import { servicePathsOf } from '../paths.ts'
import { describeError } from '../server-log.ts'
import { defaultSettings } from '../services/settings.ts'
import { outputPathOf, removeSecretFiles } from './launch.ts'
import { deleteInstance, instancesOf, type StoredInstance } from './store.ts'

const DRAIN_POLL_MS = 50

/**
 * Takes an instance that is out of the routes off the machine: waits for its requests, closes its WebSockets at the deadline,
 * stops it, stores the rest of its output and forgets it. Every step can be repeated, so a drain that was cut off starts over.
 */
export async function drainInstance(context: Context, instance: StoredInstance, signal: AbortSignal): Promise<void> {
  await awaitRequests(context, instance, signal)
  const settings = releaseById(context.db, instance.releaseId)?.settings ?? defaultSettings
  await context.engine.stop(instance.id, { graceMs: settings.maxShutdownDelaySeconds * 1000 })
  await context.engine.remove(instance.id)
  const path = outputPathOf(servicePathsOf(context.paths, instance.serviceId), instance.id)
  await context.collector.remove(path)
  deleteInstance(context.db, instance.id)
  await removeUnusedSecrets(context, instance)
}

async function awaitRequests(context: Context, instance: StoredInstance, signal: AbortSignal): Promise<void> {
  const deadline = (instance.drainingAt ?? context.now()) + context.config.CP_DRAIN_SECONDS * 1000
  try {
    while (await isBusy(context, instance.id)) {
      if (context.now() >= deadline) return await cutOff(context, instance.id)
      await sleep(DRAIN_POLL_MS, undefined, { signal })
    }
  } catch (error) {
    signal.throwIfAborted()
    // An ingress that is away holds no requests of this instance.
    context.log.error('drain not observed', { instanceId: instance.id, ...describeError(error) })
  }
}

async function isBusy(context: Context, instanceId: string): Promise<boolean> {
  const { inFlight, tunnels } = await context.ingress.drainState(instanceId)
  return inFlight > 0 || tunnels > 0
}

async function cutOff(context: Context, instanceId: string): Promise<void> {
  await context.ingress.closeTunnels(instanceId)
  await context.ingress.abortRequests(instanceId)
}

async function removeUnusedSecrets(context: Context, { serviceId, releaseId }: StoredInstance): Promise<void> {
  const isUsed = instancesOf(context.db, serviceId).some((instance) => instance.releaseId === releaseId)
  if (!isUsed) await removeSecretFiles(context, { id: releaseId, serviceId })
}
