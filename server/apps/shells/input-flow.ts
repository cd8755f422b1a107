import { shellInputWindowBytes } from '../../../shared/shell.ts'

export interface InputFlow {
  /** False when the client has typed more than may wait: it is to be cut off, and this input is not taken. */
  take(bytes: Uint8Array): boolean
}

const STEP_BYTES = shellInputWindowBytes / 8

export interface InputFlowOptions {
  write(bytes: Uint8Array): Promise<void>
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
