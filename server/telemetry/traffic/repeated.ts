export interface Repeated {
  poll(): Promise<void>
  stop(): Promise<void>
}

export interface RepeatOptions {
  pollMs: number
  onError(error: unknown): void
}

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
