import type { GoNeed } from '../toolchains/go/provide-go.ts'
import { compareGo, isGoVersion } from '../toolchains/go-version.ts'
import type { DetectInput } from './plan.ts'
import type { Wish } from './runtime-notes.ts'

/** What go.mod says, and go.work where it stands beside it: the newest of the lines `go` and `toolchain` counts, as for `go` itself. */
export function goNeedOf({ files }: Pick<DetectInput, 'files'>): GoNeed {
  const lines = ['go.mod', 'go.work'].flatMap((path) => linesIn(path, files.read(path) ?? ''))
  const newest = lines.toSorted((a, b) => compareGo(a.version, b.version)).at(-1)
  if (newest === undefined) return {}
  const { source, version, isExact } = newest
  return { least: { source, version }, ...(isExact && { exact: version }) }
}

export const goWishes = (input: Pick<DetectInput, 'files'>): Wish[] => {
  const { least } = goNeedOf(input)
  if (least === undefined) return []
  return [{ source: least.source, wanted: least.version, isMetBy: (version) => compareGo(version, least.version) >= 0 }]
}

interface Line {
  source: string
  version: string
  isExact: boolean
}

function linesIn(source: string, text: string): Line[] {
  // No `\s`, which goes on over lines: at each of a million empty ones it would look at all that follow.
  const named = [
    { written: /^[ \t]*go[ \t]+(\S{1,40})(?!\S)/m.exec(text)?.[1], isExact: false },
    { written: /^[ \t]*toolchain[ \t]+go(\S{1,40})(?!\S)/m.exec(text)?.[1], isExact: true },
  ]
  return named.flatMap(({ written, isExact }) =>
    written !== undefined && isGoVersion(written) ? [{ source, version: written, isExact }] : [],
  )
}
