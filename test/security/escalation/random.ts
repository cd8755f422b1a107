/** Random choices that are the same for the same seed. */
export interface Random {
  /** A whole number from 0 to below `end`. */
  below(end: number): number
  pick<T>(from: readonly T[]): T
  chance(share: number): boolean
  some<T>(from: readonly T[], share: number): T[]
}

/** Mulberry32: small, and even enough for tests. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (end: number) => Math.floor(next() * end)
  return {
    below,
    pick<T>(from: readonly T[]): T {
      const one = from[below(from.length)]
      if (one === undefined) throw new Error('There is nothing to choose from')
      return one
    },
    chance: (share) => next() < share,
    some: (from, share) => from.filter(() => next() < share),
  }
}
