/** What makes a cluster ahead: a workload in a sandbox with the spare's volume and no network, which runs once. */
import type { InstanceSpec } from '../../../engines/port/workload.ts'
import type { HostStack } from '../../../platform/stack.ts'
import type { AppContext } from '../../context.ts'
import { VOLUME_PATH } from '../../datastores/owner.ts'
import { baseEnv } from '../../launch/launch.ts'
import { onceOwner } from '../../workloads/run-once.ts'
import { adminPasswordFile, clusterEnv } from '../cluster.ts'
import type { StoredSpare } from '../spare-store.ts'
import { SPARE_SCRIPT } from '../start-script.ts'

export const SPARE = { ownerKind: 'spare', purpose: 'initialise' } as const

export const spareOwner = (context: AppContext) => onceOwner(context, SPARE)

const stack: HostStack = { kind: 'host', folders: [], searchPath: ['bin'] }
const LIMITS = { cpu: 1, memoryBytes: 256 * 1024 * 1024, pids: 64 }

/** Id of the workload that makes a spare, out of that of its volume. */
export const runIdOf = (volumeId: string): string => `${volumeId}.spare`

export const spareSpec = (spare: Omit<StoredSpare, 'phase'>, adminPassword: string): InstanceSpec => ({
  owner: { id: spare.volumeId, number: spare.number },
  files: { programs: spare.program },
  command: SPARE_SCRIPT,
  env: (view) => ({
    ...baseEnv(view),
    ...clusterEnv(Number(spare.version)),
    CPD_SECRETS: view.secrets,
    CPD_VOLUME: view.volume ?? '',
  }),
  secretFiles: { key: runIdOf(spare.volumeId), read: () => [adminPasswordFile(adminPassword)] },
  limits: LIMITS,
  priority: 'background',
  volume: { volumeId: spare.volumeId, mountPath: VOLUME_PATH },
  network: 'none',
  stack,
  instanceId: runIdOf(spare.volumeId),
  deployId: '',
  outputName: runIdOf(spare.volumeId),
  runs: 'once',
})
