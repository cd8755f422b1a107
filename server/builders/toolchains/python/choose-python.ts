import { isPython, lineOf } from '../python-specifiers.ts'

/** The newest line is chosen only where nothing else will do: in its first year many packages have nothing built for it. */
export function choosePython(wanted: string | undefined, versions: readonly string[]): string | undefined {
  const newestFirst = versions.toSorted(Bun.semver.order).reverse()
  const fitting = newestFirst.filter((version) => wanted === undefined || isPython(version, wanted) === true)
  const newestLine = lineOf(newestFirst[0] ?? '')
  return fitting.find((version) => lineOf(version) !== newestLine) ?? fitting[0]
}

export const isRelease = (wanted: string): boolean => /^\d+\.\d+\.\d+$/.test(wanted)
