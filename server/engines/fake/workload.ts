import { searchPathIn } from '../../platform/stack.ts'
import { checkSpec } from '../port/check-spec.ts'
import type { Workload as Spec, View } from '../port/workload.ts'

export interface Workload {
  id: string
  kind: 'instance' | 'terminal'
  ownerId: string
  command: string
  env: Record<string, string>
  port?: number
  outputName: string
  volumeId?: string
  network?: string
  onOutput?(bytes: Uint8Array): void
}

const VIEW = { root: '/app', home: '/home', secrets: '/secrets' } satisfies Partial<View>

/** What a spec comes to on the fake machine, where nothing is laid out. @throws AppError `validation_failed` naming the field. */
export function workloadOf(spec: Spec & { outputName?: string }, { id, kind, port }: Pick<Workload, 'id' | 'kind' | 'port'>): Workload {
  const ownerId = spec.owner.id
  const told = port === undefined ? {} : { port }
  const view = {
    ...VIEW,
    searchPath: searchPathIn(spec.stack, VIEW.root),
    ...told,
    ...(spec.volume && { volume: spec.volume.mountPath }),
    ...('programs' in spec.files &&
      spec.files.beside && { beside: Object.fromEntries(spec.files.beside.map((name) => [name, `/programs/${name}`])) }),
  }
  const workload = {
    id,
    kind,
    ownerId,
    command: spec.command,
    env: spec.env(view),
    ...told,
    outputName: spec.outputName ?? id,
    ...(spec.volume && { volumeId: spec.volume.volumeId }),
    ...(typeof spec.network === 'object' && { network: spec.network.name }),
  }
  checkSpec({ ...workload, ids: [id, ownerId], limits: spec.limits })
  return workload
}
