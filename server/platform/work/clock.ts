/** Time as the server's parts see it, so that a test can have hours pass in a millisecond. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
  /** Calls once after this time; returns what calls it off. */
  after(delayMs: number, run: () => void): () => void
}

export const realClock: Clock = {
  now: Date.now,
  after: (delayMs, run) => {
    const timer = setTimeout(run, delayMs)
    return () => clearTimeout(timer)
  },
}

/** Calls again and again, this long apart; returns what calls it off. */
export function every({ after }: Pick<Clock, 'after'>, periodMs: number, run: () => void): () => void {
  const tick = () => {
    cancel = after(periodMs, tick)
    run()
  }
  let cancel = after(periodMs, tick)
  return () => cancel()
}

/** Returns after this time. @throws the signal's reason when it aborts first. */
export async function pause({ after }: Pick<Clock, 'after'>, delayMs: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted()
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const cancel = after(delayMs, resolve)
  const abort = () => {
    cancel()
    reject(signal?.reason)
  }
  signal?.addEventListener('abort', abort, { once: true })
  try {
    await promise
  } finally {
    signal?.removeEventListener('abort', abort)
  }
}
