import type { Engine } from '../../engines/port/port.ts'
import type { StoredInstance } from '../workloads/instance-store.ts'

type Counter = Pick<Engine, 'capabilities' | 'siblingConnections'>

/** Whether siblings are connected past the ingress, which sees all others. Whether they wait for an answer cannot be seen. */
export const hasSiblings = async (engine: Counter, { id, port }: Pick<StoredInstance, 'id' | 'port'>): Promise<boolean> =>
  engine.capabilities.siblingConnections && (await engine.siblingConnections(id, port)) > 0
