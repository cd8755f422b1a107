import { maxEnvValueChars } from '../../../shared/env.ts'

/** A variable as it was set. Only where `interpolate` is true are references in it replaced. */
export interface RawVariable {
  value: string
  interpolate?: true
}

/** One that others may refer to; with a problem it has no value. */
export type Known = RawVariable & { problem?: string }

/** What a variable comes to, or what is wrong with it, to be read after its name. */
export type Interpolated = { value: string } | { problem: string; isCircle?: true }

/** What the platform gives of this name; null where each instance has its own, so that nobody knows it before. */
export type Given = ReadonlyMap<string, string | null>

/** All interpolated values of a service together: Linux starts no process with more than 2 MiB of arguments and variables. */
const MAX_TOTAL_CHARS = 2 * 1024 * 1024

const SHOWN_NAMES = 20

const reference = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g

/** What begins as a reference and is none, such as `${A:-b}`; undefined where all of them are good. */
export function badReferenceIn(value: string): string | undefined {
  const at = /\$\{(?![A-Za-z_][A-Za-z0-9_]{0,254}\})/.exec(value)?.index
  return at === undefined ? undefined : (/^\$\{[^}\s]{0,40}\}?/.exec(value.slice(at))?.[0] ?? '')
}

/**
 * What the variables that are marked come to: the values of others stand in the place of references, in one pass. What is put in is not
 * looked through for references again, and a variable that is itself marked is put in as what it comes to.
 */
export function interpolateAll(variables: ReadonlyMap<string, Known>, given: Given): Map<string, Interpolated> {
  const known = new Map<string, Interpolated>()
  const waiting = waitingIn(variables)
  let left = MAX_TOTAL_CHARS
  for (const key of inOrder(waiting)) {
    const found = put(variables.get(key)?.value ?? '', { variables, known, given, left })
    if ('value' in found) left -= found.value.length
    known.set(key, found)
  }
  for (const key of waiting.keys()) noteCircle(key, waiting, known)
  return known
}

type Waiting = ReadonlyMap<string, ReadonlySet<string>>

function waitingIn(variables: ReadonlyMap<string, Known>): Waiting {
  const isMarked = (name: string) => variables.get(name)?.interpolate === true
  const waiting = new Map<string, ReadonlySet<string>>()
  for (const [key, { value, interpolate }] of variables)
    if (interpolate === true) waiting.set(key, new Set([...namesIn(value)].filter(isMarked)))
  return waiting
}

/** Each after all that it waits for. Who waits for a circle is left out. */
function inOrder(waiting: Waiting): string[] {
  const counts = new Map([...waiting].map(([key, names]) => [key, names.size]))
  const waiters = new Map([...waiting.keys()].map((key): [string, string[]] => [key, []]))
  for (const [key, names] of waiting) for (const name of names) waiters.get(name)?.push(key)
  const order = [...waiting.keys()].filter((key) => counts.get(key) === 0)
  for (const key of order) {
    for (const waiter of waiters.get(key) ?? []) {
      const count = (counts.get(waiter) ?? 0) - 1
      counts.set(waiter, count)
      if (count === 0) order.push(waiter)
    }
  }
  return order
}

/** Follows who waits for whom from a variable that is not known to the circle that it is in or behind. */
function noteCircle(first: string, waiting: Waiting, known: Map<string, Interpolated>): void {
  const path = new Set<string>()
  let key: string | undefined = first
  while (key !== undefined && !known.has(key) && !path.has(key)) {
    path.add(key)
    key = [...(waiting.get(key) ?? [])].find((name) => !known.has(name) || 'problem' in (known.get(name) ?? {}))
  }
  if (key === undefined) return
  const keys = [...path]
  const circle = path.has(key) ? keys.slice(keys.indexOf(key)) : []
  for (const one of circle) known.set(one, { problem: `stands in a circle: ${inCircle(circle)}`, isCircle: true })
  for (const [at, one] of keys.entries()) if (!known.has(one)) known.set(one, noValue(keys[at + 1] ?? key))
}

const noValue = (name: string): Interpolated => ({ problem: `refers to ${name}, which has no value itself` })

interface Surroundings {
  variables: ReadonlyMap<string, Known>
  known: ReadonlyMap<string, Interpolated>
  given: Given
  left: number
}

function put(raw: string, { variables, known, given, left }: Surroundings): Interpolated {
  const values = new Map<string, string>()
  for (const name of namesIn(raw)) {
    const found = known.get(name) ?? settled(variables.get(name)) ?? platformValue(given.get(name))
    if ('problem' in found) return known.has(name) ? noValue(name) : { problem: `refers to ${name}, which ${found.problem}` }
    values.set(name, found.value)
  }
  const length = lengthOf(raw, values)
  if (length > maxEnvValueChars) return { problem: `comes to ${length} characters; a value may have ${maxEnvValueChars}` }
  if (length > left) return { problem: `is too much: interpolated values may have ${MAX_TOTAL_CHARS} characters together` }
  return { value: raw.replace(reference, (_, name: string) => values.get(name) ?? '') }
}

const settled = (variable: Known | undefined): Interpolated | undefined =>
  variable?.problem === undefined ? variable : { problem: variable.problem }

function platformValue(value: string | null | undefined): Interpolated {
  if (value === undefined) return { problem: 'is not set' }
  return value === null ? { problem: 'is own to each instance, so that the app has to read it itself' } : { value }
}

/** Counted before it is made: a few references to long values come to gigabytes. */
function lengthOf(raw: string, values: ReadonlyMap<string, string>): number {
  let length = raw.length
  for (const [whole, name = ''] of raw.matchAll(reference)) length += (values.get(name)?.length ?? 0) - whole.length
  return length
}

export const namesIn = (value: string): Set<string> => new Set([...value.matchAll(reference)].map(([, name = '']) => name))

function inCircle(circle: readonly string[]): string {
  const shown = circle.slice(0, SHOWN_NAMES)
  return [...shown, ...(shown.length < circle.length ? ['…'] : []), circle[0]].join(' → ')
}
