/** Room for so many at once; who comes later waits for a place, in turn. */
export interface Places {
  run<T>(work: () => Promise<T>): Promise<T>
}

export function createPlaces(most: number): Places {
  let taken = 0
  const waiting: (() => void)[] = []
  return {
    async run(work) {
      if (taken < most) taken += 1
      else await new Promise<void>((resolve) => waiting.push(resolve))
      try {
        return await work()
      } finally {
        const next = waiting.shift()
        if (next === undefined) taken -= 1
        else next()
      }
    },
  }
}
