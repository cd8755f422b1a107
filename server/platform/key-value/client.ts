import { RedisClient } from 'bun'
import { AppError, messageOf } from '../../../shared/error.ts'
import type { KeyValueServers, Send } from './port.ts'
import { readSnapshot } from './snapshot.ts'

const CONNECT_MS = 3000
/** A script may keep a server busy for longer, and then it answers so. */
const ANSWER_MS = 10_000

export const keyValueServers: KeyValueServers = {
  async use({ host, port }, { user, password }, act, signal) {
    const client = new RedisClient(`redis://${user}:${password}@${host.includes(':') ? `[${host}]` : host}:${port}`, {
      connectionTimeout: CONNECT_MS,
      autoReconnect: false,
      enableOfflineQueue: false,
      maxRetries: 0,
    })
    const send: Send = async ([name = '', ...given]) => await within(ANSWER_MS, signal, client.send(name, given))
    try {
      await within(CONNECT_MS, signal, client.connect())
      return await act(send)
    } catch (cause) {
      signal.throwIfAborted()
      if (cause instanceof AppError) throw cause
      throw new AppError('unavailable', `The key-value store does not answer: ${messageOf(cause)}`, { cause })
    } finally {
      client.close()
    }
  },
  snapshot: readSnapshot,
}

async function within<T>(ms: number, signal: AbortSignal, answer: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const ends = AbortSignal.any([signal, AbortSignal.timeout(ms)])
  const end = () => reject(ends.reason)
  ends.addEventListener('abort', end, { once: true })
  try {
    return await Promise.race([answer, late])
  } finally {
    ends.removeEventListener('abort', end)
  }
}
