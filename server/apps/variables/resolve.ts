import type { EnvSource } from '../../../shared/env.ts'
import { type Given, interpolateAll, type RawVariable } from './interpolate.ts'

export interface Variable extends RawVariable {
  key: string
}

/** What one source gives: the service itself, or a group. */
export interface Layer {
  source: EnvSource
  variables: readonly Variable[]
}

/** A variable as a service gets it: whose won, what that hid from the strongest on, and what it comes to. */
export interface ResolvedVariable {
  key: string
  raw: RawVariable
  source: EnvSource
  hides: EnvSource[]
  value: string
  /** What is wrong with it, to be read after its name. */
  problem?: string
  isCircle?: true
}

/**
 * The variables of a service, by key. Layers come strongest first: the service's own, then its groups from the one that was linked last.
 * What the platform gives wins over all of them where the instance is started.
 */
export function resolveVariables(layers: readonly Layer[], given: Given): ResolvedVariable[] {
  const winners = new Map<string, { raw: RawVariable; source: EnvSource; hides: EnvSource[] }>()
  let isAnyMarked = false
  for (const { source, variables } of layers) {
    for (const raw of variables) {
      const winner = winners.get(raw.key)
      if (winner !== undefined) winner.hides.push(source)
      else {
        winners.set(raw.key, { raw, source, hides: [] })
        isAnyMarked ||= raw.interpolate === true
      }
    }
  }
  const keys = [...winners.keys()].sort()
  const values = isAnyMarked ? interpolateAll(new Map([...winners].map(([key, { raw }]) => [key, raw])), given) : undefined
  return keys.flatMap((key) => {
    const winner = winners.get(key)
    if (winner === undefined) return []
    const found = values?.get(key) ?? { value: winner.raw.value }
    return [{ key, ...winner, value: '', ...found }]
  })
}
