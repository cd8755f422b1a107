/** What restores a backup, in a sandbox with a volume and no network: for a database that is to be, or to see that it can be done. */
import type { InstanceSpec } from '../../../engines/port/workload.ts'
import type { HostStack } from '../../../platform/stack.ts'
import type { WorkloadOwner } from '../../../runtime/workloads/owner.ts'
import type { AppContext } from '../../context.ts'
import { VOLUME_PATH } from '../../datastores/owner.ts'
import { baseEnv } from '../../launch/launch.ts'
import { programsOf } from '../../postgres/programs.ts'
import { ADMIN } from '../../postgres/roles.ts'
import { type OnceEnd, onceOwner, runOnce } from '../../workloads/run-once.ts'
import { RESTORE_SCRIPT } from '../postgres/restore-script.ts'

export const RESTORE = { ownerKind: 'backup', purpose: 'restore' } as const

const stack: HostStack = { kind: 'host', folders: [], searchPath: ['bin'] }

export interface RestoreRun {
  id: string
  owner: InstanceSpec['owner']
  version: string
  volumeId: string
  material: string
  target: string
  limits: InstanceSpec['limits']
  /** SQL to end with; absent where it is only tried out, which leaves nothing. */
  finishSql?: string
}

const TIMEOUT_MS = 24 * 60 * 60_000
const MIB = 1024 * 1024
/** Version from which on pg_combinebackup can link in place of copying. */
const LINKS = 18

export const restoreOwner = (context: AppContext): WorkloadOwner => onceOwner(context, RESTORE)

/** A restoration ends as `runOnce` says. @throws what ends the control plane. */
export const runRestore = async (context: AppContext, run: RestoreRun): Promise<OnceEnd> =>
  await runOnce(context, { ...RESTORE, spec: await specOf(context, run), timeoutMs: TIMEOUT_MS })

async function specOf(context: AppContext, run: RestoreRun): Promise<InstanceSpec> {
  const { name } = programsOf(context, run.version)
  await context.programs.ensure(name)
  const { limits, finishSql } = run
  const buffers = Math.max(16, Math.min(512, Math.floor(limits.memoryBytes / MIB / 4)))
  return {
    owner: run.owner,
    files: { programs: name },
    command: RESTORE_SCRIPT,
    env: (view) => ({
      ...baseEnv(view),
      LC_ALL: 'C',
      CPD_VOLUME: view.volume ?? '',
      CPD_MATERIAL: view.material ?? '',
      CPD_SECRETS: view.secrets,
      CPD_ADMIN: ADMIN,
      CPD_TARGET: run.target,
      CPD_SHARED_BUFFERS: `${buffers}MB`,
      ...(Number(run.version) >= LINKS && { CPD_CAN_LINK: '1' }),
      ...(finishSql === undefined && { CPD_DRILL: '1' }),
    }),
    secretFiles: { key: `${run.id}-sql`, read: () => [{ name: 'finish.sql', content: finishSql ?? '' }] },
    limits,
    priority: 'background',
    material: run.material,
    volume: { volumeId: run.volumeId, mountPath: VOLUME_PATH },
    network: 'none',
    stack,
    instanceId: run.id,
    deployId: '',
    outputName: run.id,
    runs: 'once',
  }
}
