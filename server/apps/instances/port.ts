import { findFreePort, INSTANCE_PORTS, isPortFree } from '../../engines/free-port.ts'
import type { AppContext } from '../context.ts'
import { INTERNAL_PORT } from '../private-network/internal-port.ts'
import { instanceById, portOfRelease, type StoredInstance, takenPorts, updateInstance } from '../workloads/instance-store.ts'

export async function choosePort(
  { engine, db }: Pick<AppContext, 'engine' | 'db'>,
  { releaseId, ownPort }: Pick<StoredInstance, 'releaseId' | 'ownPort'>,
): Promise<number> {
  if (!engine.capabilities.ownNetworks) return await findFreePort(INSTANCE_PORTS, takenPorts(db))
  return portOfRelease(db, releaseId) ?? ownPort ?? INTERNAL_PORT
}

/** Another program may have taken the port since it was chosen or while the instance was down, or networks may no longer be what they were. */
export async function settlePort(context: AppContext, instanceId: string): Promise<void> {
  const instance = instanceById(context.db, instanceId)
  if (instance === undefined) return
  const isFromShared = instance.port >= INSTANCE_PORTS.first && instance.port <= INSTANCE_PORTS.last
  const isRight = context.engine.capabilities.ownNetworks ? !isFromShared : instance.port !== INTERNAL_PORT && isPortFree(instance.port)
  updateInstance(context.db, instanceId, { misplaced: null, ...(isRight ? {} : { port: await choosePort(context, instance) }) })
}
