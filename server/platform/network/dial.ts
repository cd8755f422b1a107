export interface Connection {
  write(text: string): void
  /** Ends it at once, without a farewell. Idempotent. */
  cut(): void
}

export interface ConnectionEvents {
  data(bytes: Uint8Array): void
  closed(): void
}

export type Dial = (to: { hostname: string; port: number }, on: ConnectionEvents) => Promise<Connection>

export const dialTcp: Dial = async (to, on) => {
  const socket = await Bun.connect({
    ...to,
    socket: { data: (_, bytes) => on.data(bytes), close: () => on.closed(), error: () => on.closed() },
  })
  return { write: (text) => void socket.write(text), cut: () => socket.terminate() }
}
