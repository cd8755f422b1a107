/** Below those of instances, and of the kernel's outgoing connections, which may take a port before whoever asked for it here listens. */
const FIRST = 10_000
/** Each worker of the tests has ports of its own, as they run at a time. */
const PORTS_A_WORKER = 500
const WORKERS = 20

const first = FIRST + (Number(process.env.VITEST_POOL_ID ?? 0) % WORKERS) * PORTS_A_WORKER
let next = Math.floor(Math.random() * PORTS_A_WORKER)

/** Ports of 127.0.0.1 that nobody listens on at this moment, each another. @throws where a worker has none. */
export function freePorts(count: number): number[] {
  const ports: number[] = []
  for (let tried = 0; ports.length < count; tried++) {
    if (tried === PORTS_A_WORKER) throw new Error(`All ports from ${first} to ${first + PORTS_A_WORKER - 1} are in use`)
    const port = first + (next++ % PORTS_A_WORKER)
    if (isFree(port)) ports.push(port)
  }
  return ports
}

function isFree(port: number): boolean {
  try {
    Bun.listen({ hostname: '127.0.0.1', port, socket: { data() {} } }).stop(true)
    return true
  } catch {
    return false
  }
}
