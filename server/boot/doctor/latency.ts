import type { Socket } from 'bun'

export interface Probe {
  /** Asks at a steady pace for so long, and returns how long each answer took in ms. @throws when the connection is lost. */
  sample(durationMs: number): Promise<number[]>
  close(): void
}

/** Often enough for a 99th percentile out of some seconds, seldom enough to be no load. */
const PACE_MS = 4
const ANSWER_TIMEOUT_MS = 10_000
const REQUEST = 'GET / HTTP/1.1\r\nHost: doctor\r\n\r\n'

export async function openProbe(address: { host: string; port: number }): Promise<Probe> {
  let waiting = Promise.withResolvers<void>()
  const lost = (reason: string) => waiting.reject(new Error(reason))
  const socket: Socket = await Bun.connect({
    hostname: address.host,
    port: address.port,
    socket: {
      data: () => waiting.resolve(),
      close: () => lost('The neighbour closed the connection'),
      error: (_, error) => lost(error.message),
    },
  })
  waiting.promise.catch(() => {})

  async function ask(): Promise<number> {
    waiting = Promise.withResolvers()
    const sentAt = performance.now()
    socket.write(REQUEST)
    const timer = setTimeout(() => lost('The neighbour does not answer'), ANSWER_TIMEOUT_MS)
    await waiting.promise.finally(() => clearTimeout(timer))
    return performance.now() - sentAt
  }

  return {
    async sample(durationMs) {
      const samples: number[] = []
      for (const end = performance.now() + durationMs; performance.now() < end; ) {
        const tookMs = await ask()
        samples.push(tookMs)
        await Bun.sleep(Math.max(0, PACE_MS - tookMs))
      }
      return samples
    },
    close: () => void socket.end(),
  }
}
