import type { LogLine } from './line.ts'

/** The newest lines, for followers who are a moment behind: reading them from the store costs far more. */
export interface RecentLines {
  push(lines: readonly LogLine[]): void
  /** Lines from a number on, at most `limit`; undefined when some of them are not remembered any more. */
  from(seq: number, limit: number): readonly LogLine[] | undefined
}

export function createRecentLines(nextSeq: number, maxLines: number): RecentLines {
  let lines: LogLine[] = []
  let knownFrom = nextSeq
  return {
    push(added) {
      lines = lines.concat(added)
      if (lines.length <= maxLines * 2) return
      lines = lines.slice(-maxLines)
      knownFrom = lines[0]?.seq ?? knownFrom
    },
    from(seq, limit) {
      if (seq < knownFrom) return undefined
      const start = firstAtOrAfter(lines, seq)
      return lines.slice(start, start + limit)
    },
  }
}

function firstAtOrAfter(lines: readonly LogLine[], seq: number): number {
  let [low, high] = [0, lines.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((lines[middle]?.seq ?? 0) < seq) low = middle + 1
    else high = middle
  }
  return low
}
