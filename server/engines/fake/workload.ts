import { checkSpec } from '../port/check-spec.ts'
import type { Workload as Spec, View } from '../port/workload.ts'

/** What the fake machine needs to know to run something. */
export interface Workload {
  id: string
  kind: 'instance' | 'task' | 'terminal'
  serviceId: string
  command: string
  env: Record<string, string>
  port: number
  /** Under which name its output is kept. */
  outputName: string
  onOutput?(bytes: Uint8Array): void
}

const VIEW: View = { root: '/app', home: '/home', secrets: '/secrets', searchPath: '/bin' }

/** What a spec comes to on the fake machine, where nothing is laid out. @throws AppError `validation_failed` naming the field. */
export function workloadOf(spec: Spec & { outputName?: string; port?: number }, { id, kind }: Pick<Workload, 'id' | 'kind'>): Workload {
  const { serviceId } = spec.owner
  const view = spec.volume === undefined ? VIEW : { ...VIEW, volume: spec.volume.mountPath }
  const workload = {
    id,
    kind,
    serviceId,
    command: spec.command,
    env: spec.env(view),
    port: spec.port ?? 0,
    outputName: spec.outputName ?? id,
  }
  checkSpec({ ...workload, ids: [id, serviceId], limits: spec.limits })
  return workload
}
