import type { EnvSource } from '../../../shared/env.ts'
import { type Given, interpolateAll, type RawVariable } from './interpolate.ts'

export interface Variable extends RawVariable {
  key: string
}

export interface Layer {
  source: EnvSource
  variables: readonly Variable[]
}

/** A variable as a service gets it: whose won, what that hid from the strongest on, and what it comes to. */
export interface ResolvedVariable {
  key: string
  raw: RawVariable
  source: EnvSource
  hides: readonly EnvSource[]
  value: string
  problem?: string
  isCircle?: true
}

/**
 * The variables of a service, by key. Layers come strongest first: the service's own, then its groups from the one that was linked last.
 * What the platform gives wins over all of them where the instance is started.
 */
export function resolveVariables(layers: readonly Layer[], given: Given): ResolvedVariable[] {
  const winners = new Map<string, ResolvedVariable>()
  const marked: string[] = []
  for (const { source, variables } of layers) {
    for (const raw of variables) {
      const { key, value } = raw
      const winner = winners.get(key)
      if (winner === undefined) {
        winners.set(key, { key, raw, source, hides: nobody, value })
        if (raw.interpolate === true) marked.push(key)
      } else winner.hides = [...winner.hides, source]
    }
  }
  if (marked.length > 0) {
    const found = interpolateAll(new Map([...winners].map(([key, { raw }]) => [key, raw])), given)
    for (const key of marked) Object.assign(winners.get(key) ?? {}, { value: '' }, found.get(key))
  }
  return [...winners.values()].sort((one, other) => (one.key < other.key ? -1 : 1))
}

const nobody: readonly EnvSource[] = []
