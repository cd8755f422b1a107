import { connect } from 'node:net'

export interface ByteStream {
  /** Resolves when there is room for more. Nothing happens to what is written after the end. */
  write(bytes: Uint8Array): Promise<void>
  pause(): void
  resume(): void
  /** Ends it at once. Idempotent. */
  cut(): void
}

export interface ByteStreamEvents {
  data(bytes: Uint8Array): void
  /** However it came to its end, also by an error. */
  closed(): void
}

/** Connects by TCP. @throws whatever refuses. */
export async function openByteStream(to: { host: string; port: number }, on: ByteStreamEvents): Promise<ByteStream> {
  const socket = connect(to)
  const opened = Promise.withResolvers<void>()
  socket.once('connect', () => opened.resolve())
  socket.on('error', (error) => opened.reject(error))
  socket.on('data', (bytes: Buffer) => on.data(bytes))
  socket.on('close', () => on.closed())
  await opened.promise
  socket.setNoDelay(true)
  return {
    write: (bytes) =>
      new Promise((resolve) => {
        if (socket.destroyed || socket.write(bytes)) return resolve()
        const done = () => {
          socket.off('drain', done)
          socket.off('close', done)
          resolve()
        }
        socket.on('drain', done)
        socket.on('close', done)
      }),
    pause: () => void socket.pause(),
    resume: () => void socket.resume(),
    cut: () => void socket.destroy(),
  }
}
