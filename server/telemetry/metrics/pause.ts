import { setImmediate as nextTurn } from 'node:timers/promises'

export type Pause = () => Promise<void>

/** @throws (the pause) the signal's reason once it has aborted. */
export const pauseUnless =
  (stopping: AbortSignal): Pause =>
  async () => {
    await nextTurn()
    stopping.throwIfAborted()
  }
