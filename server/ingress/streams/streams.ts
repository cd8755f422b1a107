import type { IngressLimits } from '../limits/limits.ts'
import type { HeldListener, Inheritance } from '../sockets/inherited.ts'
import type { Stream } from '../tables/route-table.ts'
import { PipedConnection } from './piped-connection.ts'
import { createStreamListeners, type StreamListener } from './stream-listeners.ts'

export interface Streams {
  apply(streams: readonly Stream[]): void
  countOf(instanceId: string): number
  cut(instanceId: string): void
  held(): HeldListener[]
  retire(): Promise<void>
  stop(): void
}

export interface StreamsOptions {
  inheritance: Inheritance
  limits: Pick<IngressLimits, 'connectTimeoutMs' | 'maxConnections' | 'vanishedMs'>
  log: (line: string) => void
}

export function createStreams({ inheritance, limits, log }: StreamsOptions): Streams {
  const connections = new Set<PipedConnection>()
  const listeners = createStreamListeners({ inheritance, vanishedMs: limits.vanishedMs, log, accept })
  const allGone = Promise.withResolvers<void>()
  let isRetired = false

  function accept(listener: StreamListener, client: Bun.Socket<PipedConnection>): void {
    const { targets } = listener.stream
    const first = listener.turn++ % Math.max(1, targets.length)
    if (connections.size >= limits.maxConnections) return void client.terminate()
    client.data = new PipedConnection(client, {
      targets: [...targets.slice(first), ...targets.slice(0, first)],
      connectTimeoutMs: limits.connectTimeoutMs,
      vanishedMs: limits.vanishedMs,
      gone: (connection) => {
        connections.delete(connection)
        resolveWhenGone()
      },
    })
    connections.add(client.data)
  }

  function resolveWhenGone(): void {
    if (isRetired && connections.size === 0) allGone.resolve()
  }

  function retire(): Promise<void> {
    isRetired = true
    listeners.close()
    resolveWhenGone()
    return allGone.promise
  }

  return {
    apply: listeners.apply,
    countOf: (instanceId) => [...connections].filter((one) => one.instanceId === instanceId).length,
    cut(instanceId) {
      for (const one of [...connections]) if (one.instanceId === instanceId) one.cut()
    },
    held: listeners.held,
    retire,
    stop() {
      void retire()
      for (const one of [...connections]) one.cut()
    },
  }
}
