import { connectWithin } from '../sockets/connect-within.ts'
import type { ProxyTarget } from '../tables/proxy-target.ts'
import { type CancelKey, cancelRequestOf } from './first-packet.ts'

/** Brings a request to cancel to a database. Resolves when that one has closed the connection, which it does once it has signalled, or in time. */
export async function cancelAt(target: ProxyTarget, key: CancelKey, timeoutMs: number): Promise<void> {
  const closed = Promise.withResolvers<void>()
  const done = () => closed.resolve()
  const handlers: Bun.SocketHandler<undefined> = { data() {}, end: done, close: done, error: done }
  const socket = await connectWithin<undefined>(target, { data: undefined, handlers, timeoutMs })
  if (socket === undefined) return
  const timer = setTimeout(done, timeoutMs)
  socket.write(cancelRequestOf(key))
  await closed.promise
  clearTimeout(timer)
  socket.terminate()
}
