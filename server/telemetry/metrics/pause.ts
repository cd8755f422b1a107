import { setImmediate as nextTurn } from 'node:timers/promises'

/** Between two steps of a few milliseconds: whoever waits gets a turn. */
export type Pause = () => Promise<void>

/** @throws (the pause) the signal's reason once it has aborted. */
export const pauseUnless =
  (stopping: AbortSignal): Pause =>
  async () => {
    await nextTurn()
    stopping.throwIfAborted()
  }
