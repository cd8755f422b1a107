import { invalidValue } from '../../../shared/error.ts'
import type { AppContext } from '../context.ts'
import { mountPathProblem, sizeProblem } from './rules.ts'

type At = (field: 'mountPath' | 'sizeGB') => string

export function refuseBadPath({ engine }: Pick<AppContext, 'engine'>, mountPath: string, at: At): void {
  const problem = mountPathProblem(mountPath) ?? engine.volumes.pathProblem(mountPath)
  if (problem !== undefined) throw invalidValue(at('mountPath'), problem)
}

export function refuseBadSize({ engine }: Pick<AppContext, 'engine'>, { sizeGb, given }: { sizeGb: number; given: number }, at: At): void {
  const problem = sizeProblem(sizeGb, { given, freeBytes: engine.volumes.roomBytes() })
  if (problem !== undefined) throw invalidValue(at('sizeGB'), problem)
}
