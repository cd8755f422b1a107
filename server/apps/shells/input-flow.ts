import { shellInputWindowBytes } from '../../../shared/shell.ts'

/** What a client types on its way into a terminal, in order. */
export interface InputFlow {
  /** False when the client has typed more than may wait: what it typed is not taken, and it is to be cut off. */
  take(bytes: Uint8Array): boolean
}

/** Taken input is told of in steps, not with every key. */
const STEP_BYTES = shellInputWindowBytes / 8

export interface InputFlowOptions {
  /** Resolves when the bytes are in the terminal. */
  write(bytes: Uint8Array): Promise<void>
  /** The terminal has taken this much more. */
  onTaken(bytes: number): void
}

export function createInputFlow({ write, onTaken }: InputFlowOptions): InputFlow {
  let waitingBytes = 0
  let untoldBytes = 0
  let writing: Promise<void> = Promise.resolve()

  const written = (count: number) => {
    waitingBytes -= count
    untoldBytes += count
    if (untoldBytes < STEP_BYTES) return
    onTaken(untoldBytes)
    untoldBytes = 0
  }

  return {
    take(bytes) {
      if (waitingBytes + bytes.length > shellInputWindowBytes) return false
      waitingBytes += bytes.length
      writing = writing.then(() => write(bytes)).then(() => written(bytes.length))
      return true
    },
  }
}
