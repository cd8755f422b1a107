import type { Unfetched } from './download.ts'

const REMEMBERED_MS = 5 * 60_000

/** What was out of reach lately. Where a network drops packets, each build would wait once more to learn that it still is. */
export interface Outages {
  /** What `ask` gives; for some minutes after an outage what it threw then, without asking. */
  unless<T>(outage: Outage, ask: () => Promise<T>): Promise<T>
}

export interface Outage {
  of: string
  kind: typeof Unfetched
}

export function createOutages(now: () => number = () => performance.now()): Outages {
  const known = new Map<string, { problem: Unfetched; at: number }>()
  return {
    async unless({ of, kind }, ask) {
      const last = known.get(of)
      if (last !== undefined && now() - last.at < REMEMBERED_MS) throw last.problem
      try {
        return await ask()
      } catch (error) {
        if (error instanceof kind) known.set(of, { problem: error, at: now() })
        throw error
      }
    },
  }
}
