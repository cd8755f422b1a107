/** A whole number from 0 on, below a bound. */
export type Random = (below: number) => number

/** A small linear congruential generator of whole numbers below a bound: the same rounds each time. */
export function randomFrom(seed: number): Random {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}
