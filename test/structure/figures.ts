import { dirname } from 'node:path'
import { commentsIn, isDangling } from './comments.ts'
import { copiedLines } from './copies.ts'
import { levelOf } from './groups.ts'
import { foldersOf, type Import, knotsIn } from './imports.ts'
import type { Source } from './sources.ts'

/** The half, nine tenths and the whole of some sizes are at most so large. */
export interface Spread {
  p50: number
  p90: number
  max: number
}

export interface Figures {
  folders: number
  files: number
  lines: number
  fileLines: Spread
  /** Share of the lines that are comments, 0 to 1. */
  comments: number
  dangling: number
  /** Copied lines of code for each thousand lines. */
  copies: number
  /** Folders that import each other. */
  knotted: number
}

/** Figures of some files of one layer, with the imports between the layer's files. */
export function figuresOf(sources: readonly Source[], imports: readonly Import[]): Figures {
  const sizes = sources.map(({ lines }) => lines.length)
  const lines = sizes.reduce((sum, size) => sum + size, 0)
  const comments = sources.flatMap((source) => commentsIn(source.lines))
  const own = new Set(sources.map(({ path }) => path))
  return {
    folders: new Set(sources.map(({ path }) => dirname(path))).size,
    files: sources.length,
    lines,
    fileLines: spreadOf(sizes),
    comments: comments.reduce((sum, { lineCount }) => sum + lineCount, 0) / Math.max(1, lines),
    dangling: comments.filter(isDangling).length,
    copies: (1000 * copiedLines(sources)) / Math.max(1, lines),
    knotted: knotsIn(foldersOf(imports.filter(({ from }) => own.has(from)))).flat().length,
  }
}

/** Imports of a group by another below it, or beside it. */
export const arrowsUpward = (imports: readonly Import[]): Import[] =>
  imports.filter(({ from, to }) => {
    const [own, other] = [groupOf(from), groupOf(to)]
    const [level, above] = [levelOf(own), levelOf(other)]
    return own !== other && level !== undefined && above !== undefined && above <= level
  })

export const groupOf = (path: string): string => (path.includes('/') ? path.slice(0, path.indexOf('/')) : '.')

export function spreadOf(sizes: readonly number[]): Spread {
  const sorted = sizes.toSorted((one, other) => one - other)
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0
  return { p50: at(0.5), p90: at(0.9), max: at(1) }
}
