import { shellFrameBytes, shellInputWindowBytes } from '../../shared/shell.ts'

/** What is typed on its way to the server, which says how much of it the program has taken. */
export interface OutgoingInput {
  send(bytes: Uint8Array): void
  taken(bytes: number): void
}

interface OutgoingOptions {
  send(frame: Uint8Array): void
  setWaiting(isWaiting: boolean): void
}

/** Sends as much as may be under way, and keeps the rest until there is room. */
export function createOutgoingInput({ send, setWaiting }: OutgoingOptions): OutgoingInput {
  const waiting: Uint8Array[] = []
  let underWayBytes = 0
  let isWaiting = false

  const flush = () => {
    for (let frame = waiting[0]; frame !== undefined; frame = waiting[0]) {
      if (underWayBytes + frame.length > shellInputWindowBytes) break
      underWayBytes += frame.length
      send(frame)
      waiting.shift()
    }
    if (isWaiting === waiting.length > 0) return
    isWaiting = waiting.length > 0
    setWaiting(isWaiting)
  }

  return {
    send(bytes) {
      for (let at = 0; at < bytes.length; at += shellFrameBytes) waiting.push(bytes.slice(at, at + shellFrameBytes))
      flush()
    },
    taken(bytes) {
      underWayBytes -= bytes
      flush()
    },
  }
}
