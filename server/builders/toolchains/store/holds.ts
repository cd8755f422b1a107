import type { StoreReader, ToolchainStore } from './store.ts'

/** A store as one build sees it: what it was given stays until it gives that back. */
export interface Loan extends StoreReader {
  /** Marks all of it as used now, since the release that was made of it is named a moment later. */
  giveBack(): Promise<void>
}

export interface Holds {
  has(name: string): boolean
  lend(store: ToolchainStore): Loan
}

/** What running builds stand on, which no release names yet. */
export function createHolds(): Holds {
  const counts = new Map<string, number>()
  return { has: (name) => counts.has(name), lend: (store) => lend(store, counts) }
}

function lend(store: ToolchainStore, counts: Map<string, number>): Loan {
  const names = new Set<string>()
  // Held before it is looked for: whoever wants to take it away afterwards knows.
  const hold = (name: string) => {
    if (!names.has(name)) counts.set(name, (counts.get(name) ?? 0) + 1)
    names.add(name)
  }
  return {
    dir: store.dir,
    entries: store.entries,
    find(name) {
      hold(name)
      return store.find(name)
    },
    ensure(name, entry, signal) {
      hold(name)
      return store.ensure(name, entry, signal)
    },
    async giveBack() {
      await Promise.all([...names].map((name) => store.find(name)))
      for (const name of names) {
        const others = (counts.get(name) ?? 1) - 1
        if (others === 0) counts.delete(name)
        else counts.set(name, others)
      }
      names.clear()
    },
  }
}
