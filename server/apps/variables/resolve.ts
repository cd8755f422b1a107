import type { EnvSource } from '../../../shared/env.ts'
import type { EnvEntry } from '../services/env-store.ts'
import { type Given, interpolateAll, type Known, namesIn } from './interpolate.ts'
import type { LookUp } from './references.ts'

export interface Layer {
  source: EnvSource
  variables: readonly EnvEntry[]
}

/** A variable as a service gets it: whose won, what that hid from the strongest on, and what it comes to. */
export interface ResolvedVariable {
  key: string
  raw: EnvEntry
  source: EnvSource
  hides: readonly EnvSource[]
  value: string
  problem?: string
  isCircle?: true
}

/** What is known about variables beside themselves: what the platform gives, and what datastores say. */
export interface Surroundings {
  given: Given
  lookUp: LookUp
}

/**
 * The variables of a service, by key. Layers come strongest first: the service's own, then its groups from the one that was linked last.
 * What the platform gives wins over all of them where the instance is started.
 */
export function resolveVariables(layers: readonly Layer[], { given, lookUp }: Surroundings): ResolvedVariable[] {
  const winners = new Map<string, ResolvedVariable>()
  const marked: string[] = []
  for (const { source, variables } of layers) {
    for (const raw of variables) {
      const winner = winners.get(raw.key)
      if (winner !== undefined) winner.hides = [...winner.hides, source]
      else {
        winners.set(raw.key, { key: raw.key, raw, source, hides: nobody, value: raw.value, ...comesTo(raw, lookUp) })
        if (raw.interpolate === true) marked.push(raw.key)
      }
    }
  }
  if (marked.length > 0) {
    const found = interpolateAll(new Map([...winners].map(knownOf)), given)
    for (const key of marked) Object.assign(winners.get(key) ?? {}, { value: '' }, found.get(key))
  }
  return [...winners.values()].sort((one, other) => (one.key < other.key ? -1 : 1))
}

/** The variables that say what a datastore says: those that refer to one, and all that refer to such a variable. */
export function keysThatTell(variables: readonly ResolvedVariable[]): ReadonlySet<string> {
  const telling = new Set(variables.filter(({ raw }) => raw.from !== undefined).map(({ key }) => key))
  if (telling.size === 0) return telling
  const names = new Map(variables.filter(({ raw }) => raw.interpolate === true).map(({ key, raw }) => [key, namesIn(raw.value)]))
  for (let before = -1; before !== telling.size; ) {
    before = telling.size
    for (const [key, referred] of names) if (!referred.isDisjointFrom(telling)) telling.add(key)
  }
  return telling
}

const comesTo = ({ from }: EnvEntry, lookUp: LookUp) => (from === undefined ? {} : lookUp(from))

/** What stands behind a reference is put in as it is. */
const knownOf = ([key, { raw, value, problem }]: [string, ResolvedVariable]): [string, Known] => [
  key,
  raw.from === undefined ? raw : { value, ...(problem !== undefined && { problem }) },
]

const nobody: readonly EnvSource[] = []
