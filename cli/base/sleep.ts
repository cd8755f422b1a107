/** Waits, or less long when `signal` aborts. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  const wake = () => resolve()
  signal.addEventListener('abort', wake)
  if (signal.aborted) resolve()
  return promise.finally(() => {
    clearTimeout(timer)
    signal.removeEventListener('abort', wake)
  })
}
