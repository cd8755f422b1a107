/** Workloads of the platform's own that run to their end and are waited for. */
import { AppError } from '../../../shared/error.ts'
import type { ExitedState } from '../../engines/port/port.ts'
import type { InstanceSpec } from '../../engines/port/workload.ts'
import type { WorkloadOwner } from '../../runtime/workloads/owner.ts'
import type { AppContext } from '../context.ts'

type Deps = Pick<AppContext, 'work' | 'engine' | 'stopping'>

export interface OnceRun {
  ownerKind: string
  purpose: string
  spec: InstanceSpec
  timeoutMs: number
  /** What runs is killed when it aborts; absent: only with the time. */
  signal?: AbortSignal
}

export interface OnceEnd {
  isDone: boolean
  /** With what its program ended by itself; undefined where it was ended, or nobody saw how. */
  exitCode: number | undefined
  isOutOfMemory: boolean
  output: string
}

const LAST_BYTES = 16 * 1024
const ends = new Map<string, ExitedState | undefined>()

export const onceOwner = (context: Pick<AppContext, 'work'>, kind: Pick<WorkloadOwner, 'ownerKind' | 'purpose'>): WorkloadOwner => ({
  ...kind,
  policy: { restarts: 'never' },
  newId: ({ id }) => id,
  specOf: async ({ id }) => {
    const spec = context.work.awaited.specOf(id)
    if (spec === undefined) throw new AppError('conflict', 'This is begun anew.')
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
export async function runOnce(context: Deps, { spec, timeoutMs, signal = context.stopping, ...kind }: OnceRun): Promise<OnceEnd> {
  const { instanceId: id, owner } = spec
  ends.delete(id)
  await context.work.awaited.run({ set: { ...kind, id, ownerId: owner.id, spec: {} }, spec, timeoutMs, signal })
  context.stopping.throwIfAborted()
  const exit = ends.get(id)
  ends.delete(id)
  const output = context.engine.output.open({ ownerId: owner.id, name: id })
  const said = await output.read({ maxBytes: LAST_BYTES, newestBytes: LAST_BYTES })
  await output.remove()
  const isOutOfMemory = exit?.why === 'out_of_memory'
  return {
    isDone: exit?.exitCode === 0,
    exitCode: exit?.exitCode ?? undefined,
    isOutOfMemory,
    output: new TextDecoder().decode(said?.bytes),
  }
}

export async function saidBy({ engine }: Pick<AppContext, 'engine'>, id: string, bytes: number): Promise<string> {
  const said = await engine.output.open({ ownerId: id, name: id }).read({ maxBytes: bytes, newestBytes: bytes })
  return new TextDecoder().decode(said?.bytes)
}
