import type { Namespace } from './namespace.ts'

/** Namespaces are made beforehand, so that a start does not wait for one. */
export interface NamespacePool {
  take(): Promise<Namespace>
  fill(): void
  close(): Promise<void>
}

export interface PoolOptions {
  size?: number
  make(): Promise<Namespace>
  onError(error: unknown): void
}

export const POOL_SIZE = 4

export function createPool({ size = POOL_SIZE, make, onError }: PoolOptions): NamespacePool {
  const ready: Namespace[] = []
  let filling: Promise<void> | undefined
  let isClosed = false

  async function fillUp(): Promise<void> {
    while (!isClosed && ready.length < size) ready.push(await make())
  }

  function fill(): void {
    if (isClosed) return
    filling ??= fillUp()
      .catch(onError)
      .finally(() => {
        filling = undefined
      })
  }

  return {
    fill,
    async take() {
      const taken = ready.shift()
      // Started a moment later: the one who takes has something to start first.
      setTimeout(fill, REFILL_PAUSE_MS).unref()
      return taken ?? (await make())
    },
    async close() {
      isClosed = true
      await filling
      for (const one of ready.splice(0)) one.release()
    },
  }
}

const REFILL_PAUSE_MS = 20
