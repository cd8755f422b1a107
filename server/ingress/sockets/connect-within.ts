import type { ProxyTarget } from '../tables/proxy-target.ts'

export interface ConnectOptions<Data> {
  data: Data
  handlers: Bun.SocketHandler<Data>
  timeoutMs: number
}

/** A connection to this target, or undefined where there is none within the time. Nothing that it says is lost: it is paused until it is returned. */
export async function connectWithin<Data>(
  { host, port }: ProxyTarget,
  { data, handlers, timeoutMs }: ConnectOptions<Data>,
): Promise<Bun.Socket<Data> | undefined> {
  const timeout = AbortSignal.timeout(timeoutMs)
  const socket: Bun.SocketHandler<Data> = { ...handlers, open: (opened) => opened.pause() }
  const connecting = Bun.connect<Data>({ hostname: host, port, allowHalfOpen: true, data, socket }).catch(() => undefined)
  const late = new Promise<undefined>((resolve) => timeout.addEventListener('abort', () => resolve(undefined), { once: true }))
  const opened = await Promise.race([connecting, late])
  if (opened === undefined) void connecting.then((tooLate) => tooLate?.terminate())
  opened?.resume()
  return opened
}
