/**
 * The outcome of `work`, or an end of the wait when `signal` aborts: the work itself goes on, with nobody waiting for it.
 *
 * @throws the signal's reason when it has aborted or aborts first.
 */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted()
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const abort = () => reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  try {
    return await Promise.race([work, aborted])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
