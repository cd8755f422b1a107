/** Ports of 127.0.0.1 that nobody listens on at this moment, each another. */
export function freePorts(count: number): number[] {
  const listeners = Array.from({ length: count }, () => Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } }))
  const ports = listeners.map(({ port }) => port)
  for (const listener of listeners) listener.stop(true)
  return ports
}
