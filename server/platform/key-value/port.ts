export interface ServerAddress {
  host: string
  port: number
}

export interface Login {
  user: string
  password: string
}

/** Answers are what the server gave: text, numbers, lists, null. */
export type Send = (command: readonly string[]) => Promise<unknown>

/** How the platform speaks to the servers of key-value stores. */
export interface KeyValueServers {
  /**
   * Connects, has `act` send commands one after the other, and disconnects.
   * @throws AppError `unavailable` where nobody answers, the server still reads its files, or refuses; `signal`'s reason when that aborts.
   */
  use<T>(at: ServerAddress, login: Login, act: (send: Send) => Promise<T>, signal: AbortSignal): Promise<T>
  /**
   * The content at one moment, as a snapshot file (RDB), in pieces as fast as they are taken; nothing is written to the disk of the server.
   * @throws AppError `unavailable` where it does not come to its end.
   */
  snapshot(at: ServerAddress, login: Login, signal: AbortSignal): AsyncIterable<Uint8Array>
}
