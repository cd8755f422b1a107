/** What is asked of an app under load. The part after the slash says over what. */
export const kinds = [
  'kept-alive/http',
  'fresh/http',
  'long/http',
  'upload/http',
  'kept-alive/https',
  'fresh/https',
  'long/https',
  'upload/https',
  'h2',
  'long/h2',
  'websocket/http',
  'websocket/https',
] as const
export type Kind = (typeof kinds)[number]

/** Something that failed. Times are milliseconds of `performance.now()`. */
export interface Failure {
  kind: Kind
  /** When the connection it was on was asked for. */
  openedAt: number
  sentAt: number
  doneAt: number
  reason: string
}

/** Everything that was asked: how often, how slowly at worst, and what failed. */
export interface Record {
  readonly failures: readonly Failure[]
  count(kind?: Kind): number
  longestMs(kind: Kind): number
  add(attempt: Omit<Failure, 'reason'> & { reason: string | undefined }): void
}

export function createRecord(): Record {
  const failures: Failure[] = []
  const counts = new Map<Kind, { count: number; longestMs: number }>()
  return {
    failures,
    count: (kind) =>
      kind === undefined ? [...counts.values()].reduce((sum, { count }) => sum + count, 0) : (counts.get(kind)?.count ?? 0),
    longestMs: (kind) => counts.get(kind)?.longestMs ?? 0,
    add({ reason, ...attempt }) {
      const known = counts.get(attempt.kind) ?? { count: 0, longestMs: 0 }
      const longestMs = Math.max(known.longestMs, attempt.doneAt - attempt.sentAt)
      counts.set(attempt.kind, { count: known.count + 1, longestMs })
      if (reason !== undefined) failures.push({ ...attempt, reason })
    },
  }
}
