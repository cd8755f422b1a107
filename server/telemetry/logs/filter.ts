import type { LogLevel, LogType } from '../../../shared/log.ts'
import { compileLabel, holdsLabel, type LabelTest, type RequestLabel, requestLabels } from './label-pattern.ts'
import { type LogLine, levelNamed } from './line.ts'

/** An absent or empty list restricts nothing, except `resource`, where an empty list means no line. `*` in a label stands for any characters. */
export interface LogFilter extends Partial<Record<RequestLabel, readonly string[]>> {
  resource: readonly string[] | 'any'
  instance?: readonly string[]
  level?: readonly string[]
  type?: readonly LogType[]
  /** Every word and every "quoted phrase" of every entry must stand in the message, in any letter case. */
  text?: readonly string[]
  /** Microseconds since 1970, inclusive. */
  startAt?: number
  /** Microseconds since 1970, exclusive. */
  endAt?: number
}

export interface LineTest {
  resources: ReadonlySet<string> | undefined
  instances: ReadonlySet<string> | undefined
  levels: ReadonlySet<LogLevel> | undefined
  types: ReadonlySet<LogType> | undefined
  labels: readonly LabelTest[]
  terms: readonly string[]
  startAt: number
  endAt: number
}

export function compileFilter(filter: LogFilter): LineTest {
  const levels = filter.level?.map(levelNamed).filter((level) => level !== undefined)
  const labels = requestLabels.flatMap((label) => (filter[label]?.length ? [compileLabel(label, filter[label])] : []))
  return {
    resources: filter.resource === 'any' ? undefined : new Set(filter.resource),
    instances: setOf(filter.instance),
    // A list of unknown levels only matches nothing, so it must not turn into "no restriction".
    levels: filter.level === undefined || filter.level.length === 0 ? undefined : new Set(levels),
    types: typesOf(filter.type, labels),
    labels,
    terms: [...new Set((filter.text ?? []).flatMap(searchTerms))],
    startAt: filter.startAt ?? Number.NEGATIVE_INFINITY,
    endAt: filter.endAt ?? Number.POSITIVE_INFINITY,
  }
}

/** Whether the line is one the filter asks for. The one answer to that question, for stored and for live lines. */
export function matches(line: LogLine, test: LineTest): boolean {
  return (
    line.at >= test.startAt &&
    line.at < test.endAt &&
    holds(test.resources, line.resource) &&
    holds(test.instances, line.instance) &&
    holds(test.levels, line.level) &&
    holds(test.types, line.type) &&
    test.labels.every((label) => holdsLabel(line.labels, label)) &&
    containsAll(line.message, test.terms)
  )
}

export const fold = (text: string): string => text.toLowerCase().replaceAll('ς', 'σ')

export function searchTerms(text: string): string[] {
  const terms: string[] = []
  for (const [, phrase, word] of text.matchAll(/"([^"]+)"|(\S+)/g)) {
    const term = fold((phrase ?? word ?? '').toWellFormed().replaceAll('\0', '\uFFFD'))
    if (term !== '') terms.push(term)
  }
  return terms
}

function containsAll(message: string, terms: readonly string[]): boolean {
  if (terms.length === 0) return true
  const folded = fold(message)
  return terms.every((term) => folded.includes(term))
}

function typesOf(types: readonly LogType[] | undefined, labels: readonly LabelTest[]): ReadonlySet<LogType> | undefined {
  if (labels.length === 0) return setOf(types)
  return new Set(types === undefined || types.length === 0 || types.includes('request') ? ['request'] : [])
}

const setOf = <T>(values: readonly T[] | undefined): ReadonlySet<T> | undefined =>
  values === undefined || values.length === 0 ? undefined : new Set(values)

const holds = <T>(allowed: ReadonlySet<T> | undefined, value: T): boolean => allowed === undefined || allowed.has(value)
