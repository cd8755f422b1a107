/** Below those of instances, and of the kernel's outgoing connections, which may take a port before whoever asked for it here listens. */
const FIRST = 10_000
const LAST = 19_999

/** Ports of 127.0.0.1 that nobody listens on at this moment, each another. */
export function freePorts(count: number): number[] {
  const ports = new Set<number>()
  while (ports.size < count) {
    const port = FIRST + Math.floor(Math.random() * (LAST - FIRST + 1))
    if (isFree(port)) ports.add(port)
  }
  return [...ports]
}

function isFree(port: number): boolean {
  try {
    Bun.listen({ hostname: '127.0.0.1', port, socket: { data() {} } }).stop(true)
    return true
  } catch {
    return false
  }
}
