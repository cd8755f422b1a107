export interface Repeated {
  /** Does it now, whatever the clock says. */
  poll(): Promise<void>
  /** Returns when it is not under way any more. */
  stop(): Promise<void>
}

export interface RepeatOptions {
  /** From the end of one time to the beginning of the next. */
  pollMs: number
  onError(error: unknown): void
}

/** Does something at once and then again and again, one time after the other. The signal it is given aborts when it is to stop. */
export function repeat(poll: (stopping: AbortSignal) => Promise<void>, { pollMs, onError }: RepeatOptions): Repeated {
  const stopper = new AbortController()
  const { signal } = stopper
  let timer: Timer | undefined
  const goOn = async (): Promise<void> => {
    await poll(signal).catch(onError)
    if (signal.aborted) return
    timer = setTimeout(() => {
      underWay = goOn()
    }, pollMs)
    timer.unref()
  }
  let underWay = goOn()
  return {
    poll: () => poll(signal),
    async stop() {
      stopper.abort()
      clearTimeout(timer)
      await underWay
    },
  }
}
