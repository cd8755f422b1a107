import type { OpenTerminal } from '../../engines/port/port.ts'
import type { ClientSocket } from '../../http/sockets/sockets.ts'

export interface OutputFlow {
  send(bytes: Uint8Array): void
  attach(terminal: Pick<OpenTerminal, 'pause' | 'resume'>): void
  taken(bytes: number): void
  drained(): void
  whenSent(): Promise<void>
}

/** `window` is the most that may be sent without the client having shown it; undefined where it does not tell. */
export function createOutputFlow(socket: ClientSocket, window: number | undefined): OutputFlow {
  let terminal: Pick<OpenTerminal, 'pause' | 'resume'> | undefined
  let room: PromiseWithResolvers<void> | undefined
  let untakenBytes = 0
  let isHeld = false

  const regulate = () => {
    const mustWait = room !== undefined || (window !== undefined && untakenBytes >= window)
    if (mustWait === isHeld) return
    isHeld = mustWait
    if (isHeld) terminal?.pause()
    else terminal?.resume()
  }

  return {
    send(bytes) {
      untakenBytes += bytes.length
      if (socket.send(bytes) === 'queued') room ??= Promise.withResolvers()
      regulate()
    },
    attach(opened) {
      terminal = opened
      if (isHeld) terminal.pause()
    },
    taken(bytes) {
      untakenBytes = Math.max(0, untakenBytes - bytes)
      regulate()
    },
    drained() {
      room?.resolve()
      room = undefined
      regulate()
    },
    whenSent: async () => await room?.promise,
  }
}
