/** What restores a backup, in a sandbox with a volume and no network: for a database that is to be, or to see that it can be done. */

import { AppError } from '../../../../shared/error.ts'
import type { ExitedState } from '../../../engines/port/port.ts'
import type { InstanceSpec } from '../../../engines/port/workload.ts'
import type { HostStack } from '../../../platform/stack.ts'
import type { WorkloadOwner } from '../../../runtime/workloads/owner.ts'
import type { AppContext } from '../../context.ts'
import { VOLUME_PATH } from '../../datastores/owner.ts'
import { baseEnv } from '../../launch/launch.ts'
import { programsOf } from '../../postgres/programs.ts'
import { ADMIN } from '../../postgres/roles.ts'
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

export interface RestoreEnd {
  isDone: boolean
  output: string
}

const TIMEOUT_MS = 24 * 60 * 60_000
const MIB = 1024 * 1024
const LAST_BYTES = 16 * 1024
/** Version from which on pg_combinebackup can link in place of copying. */
const LINKS = 18
const ends = new Map<string, ExitedState | undefined>()

export const restoreOwner = (context: AppContext): WorkloadOwner => ({
  ...RESTORE,
  policy: { restarts: 'never' },
  newId: ({ id }) => id,
  specOf: async ({ id }) => {
    const spec = context.work.awaited.specOf(id)
    if (spec === undefined) throw new AppError('conflict', 'This recovery is begun anew.')
    return spec
  },
  follow: () => {},
  closeOutput: async () => {},
  onStarted: ({ id }) => context.work.awaited.changed(id),
  onEnd({ id }, end) {
    if (end.kind === 'over') ends.set(id, end.exit)
  },
  graceMs: () => 0,
  onRemoved: async ({ id }) => context.work.awaited.changed(id),
})

/** Runs to its end what is begun anew wherever nobody saw how it ended: it leaves what is done. @throws what ends the control plane. */
export async function runRestore(context: AppContext, run: RestoreRun): Promise<RestoreEnd> {
  const spec = await specOf(context, run)
  ends.delete(run.id)
  const set = { ...RESTORE, id: run.id, ownerId: run.owner.id, spec: {} }
  await context.work.awaited.run({ set, spec, timeoutMs: TIMEOUT_MS, signal: context.stopping })
  context.stopping.throwIfAborted()
  const exit = ends.get(run.id)
  ends.delete(run.id)
  const output = context.engine.output.open({ ownerId: run.owner.id, name: run.id })
  const said = await output.read({ maxBytes: LAST_BYTES, newestBytes: LAST_BYTES })
  await output.remove()
  return { isDone: exit?.exitCode === 0, output: new TextDecoder().decode(said?.bytes) }
}

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
