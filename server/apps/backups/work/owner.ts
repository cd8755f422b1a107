/** What restores a backup, in a sandbox with a volume and no network: for a datastore that is to be, or to see that it can be done. */
import type { InstanceSpec } from '../../../engines/port/workload.ts'
import type { HostStack } from '../../../platform/stack.ts'
import type { WorkloadOwner } from '../../../runtime/workloads/owner.ts'
import type { AppContext } from '../../context.ts'
import { VOLUME_PATH } from '../../datastores/owner.ts'
import { type OnceEnd, onceOwner, runOnce } from '../../workloads/run-once.ts'

export const RESTORE = { ownerKind: 'backup', purpose: 'restore' } as const

const stack: HostStack = { kind: 'host', folders: [], searchPath: ['bin'] }

/** What restores: a program of the platform, and what that is told. */
export type RestoreProgram = Pick<InstanceSpec, 'files' | 'command' | 'env' | 'secretFiles'>

export interface RestoreRun {
  id: string
  owner: InstanceSpec['owner']
  volumeId: string
  material: string
  limits: InstanceSpec['limits']
  program: RestoreProgram
  signal?: AbortSignal
}

const TIMEOUT_MS = 24 * 60 * 60_000

export const restoreOwner = (context: AppContext): WorkloadOwner => onceOwner(context, RESTORE)

/** A restoration ends as `runOnce` says. @throws what ends the control plane. */
export const runRestore = async (context: AppContext, run: RestoreRun): Promise<OnceEnd> =>
  await runOnce(context, {
    ...{ ...RESTORE, spec: specOf(run), timeoutMs: TIMEOUT_MS },
    ...(run.signal && { signal: run.signal }),
  })

const specOf = ({ id, owner, volumeId, material, limits, program }: RestoreRun): InstanceSpec => ({
  ...program,
  owner,
  limits,
  priority: 'background',
  material,
  volume: { volumeId, mountPath: VOLUME_PATH },
  network: 'none',
  stack,
  instanceId: id,
  deployId: '',
  outputName: id,
  runs: 'once',
})
