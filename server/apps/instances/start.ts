import { findFreePort, INSTANCE_PORTS, isPortFree } from '../../engines/free-port.ts'
import { describeError } from '../../platform/server-log.ts'
import type { AppContext } from '../context.ts'
import { releaseById } from '../deploys/release-store.ts'
import { prepareInstance } from '../launch/launch.ts'
import { INTERNAL_PORT } from '../private-network/internal-port.ts'
import type { StoredService } from '../services/store.ts'
import { instanceById, portOfRelease, type StoredInstance, takenPorts, updateInstance } from '../workloads/instance-store.ts'
import { noteAddress, recordExit } from './observe.ts'

/** Starts an instance that is due. What cannot be started counts as having died: it is tried again after a pause. */
export async function startInstance(context: AppContext, service: StoredService, instanceId: string): Promise<void> {
  if (instanceById(context.db, instanceId)?.phase !== 'pending') return
  await settlePort(context, instanceId)
  updateInstance(context.db, instanceId, { phase: 'starting', misplaced: null, startedAt: context.now() })
  const instance = instanceById(context.db, instanceId)
  const release = instance && releaseById(context.db, instance.releaseId)
  if (instance === undefined || release === undefined) return
  try {
    const spec = await prepareInstance(context, { service, release, instance })
    followInstance(context, instance, spec.outputPath)
    await forgetEarlierRun(context, instanceId)
    await context.engine.start(spec)
    await noteAddress(context, instanceId)
  } catch (error) {
    context.log.error('instance not started', { instanceId, ...describeError(error) })
    recordExit(context, service, { instance, exit: { at: context.now(), exitCode: null, signal: null, oomKilled: false } })
  }
}

/** Begins, or goes on, to collect what an instance writes. */
export function followInstance(context: Pick<AppContext, 'collector'>, instance: StoredInstance, path: string): void {
  const { id, serviceId, deployId } = instance
  context.collector.follow({ path, resource: serviceId, instance: id, deployId, type: 'app' })
}

/** We may have died between writing down that it ended and having the engine forget it; the engine starts no id that has ended. */
async function forgetEarlierRun({ engine }: AppContext, instanceId: string): Promise<void> {
  const state = await engine.inspect(instanceId)
  if (state?.status === 'exited') await engine.remove(instanceId)
}

/** The port of an instance that is yet to be made, beginning with that at which others of its release are reached. */
export async function choosePort(
  { engine, db }: Pick<AppContext, 'engine' | 'db'>,
  { releaseId, ownPort }: Pick<StoredInstance, 'releaseId' | 'ownPort'>,
): Promise<number> {
  if (!engine.hasOwnNetworks) return await findFreePort(INSTANCE_PORTS, takenPorts(db))
  return portOfRelease(db, releaseId) ?? ownPort ?? INTERNAL_PORT
}

/** Another program may have taken the port since it was chosen or while the instance was down, or networks may no longer be what they were. */
async function settlePort(context: AppContext, instanceId: string): Promise<void> {
  const instance = instanceById(context.db, instanceId)
  if (instance === undefined) return
  const isFromShared = instance.port >= INSTANCE_PORTS.first && instance.port <= INSTANCE_PORTS.last
  const isRight = context.engine.hasOwnNetworks ? !isFromShared : instance.port !== INTERNAL_PORT && isPortFree(instance.port)
  updateInstance(context.db, instanceId, { address: null, ...(isRight ? {} : { port: await choosePort(context, instance) }) })
}
