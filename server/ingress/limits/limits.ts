/** Bounds of time and size within which the ingress serves. Times in milliseconds, sizes in bytes. */
export interface IngressLimits {
  /** Open client connections; further ones are closed at once. */
  maxConnections: number
  /** Of one client address, or of one /64 in IPv6; trusted proxies may have any number. 0 is no limit. */
  maxConnectionsPerAddress: number
  /** Requests under way to the control plane, of one client address; 0 is no limit. */
  maxApiRequestsPerAddress: number
  /** Requests at a time on one HTTP/2 connection. */
  maxStreams: number
  maxHeadBytes: number
  maxTargetBytes: number
  maxFields: number
  /** Of one request; 0 is no limit. */
  maxBodyBytes: number
  /** What may wait in memory for clients to take it, or for instances to take it from them: of all connections. */
  maxUnsentBytes: number
  /** Requests of HTTP/2 at a time, of all connections: each may take a connection to an instance, and so a descriptor. */
  maxOpenStreams: number
  /** From the first byte of a request's head to its last; further bytes do not extend it. */
  headTimeoutMs: number
  /** Of a connection between two requests. */
  keepAliveMs: number
  /** Without a byte of a request body that is being waited for. */
  bodyIdleMs: number
  /** In which a client that has some to take must take a little of it: see `MIN_PROGRESS_BYTES` for the windows of HTTP/2. */
  writeIdleMs: number
  connectTimeoutMs: number
  /** Without a byte from an upstream that owes an answer. */
  upstreamIdleMs: number
  /** Without a byte in either direction of a tunnel. */
  tunnelIdleMs: number
  /** Of a pooled upstream connection. Just below the 5 s after which Node closes its side. */
  poolIdleMs: number
  /** A request that cannot be repeated takes a pooled connection only while it is this fresh. */
  poolFreshMs: number
  /** Requests that wait for services that are asleep: for one of them, and for all. */
  maxHeldPerService: number
  maxHeld: number
  /** Of all, those that come with a body, the beginning of which waits with them. */
  maxHeldWithBody: number
  /** For a service to wake, from the request that waits for it on. */
  wakeTimeoutMs: number
  /** For a client to read the answer and close after we have closed our side. */
  lingerMs: number
  /** For requests in flight when the ingress is asked to end. */
  closeGraceMs: number
  /** For idle connections and tunnels to be left by their clients after a hand-over; then the ones are closed, the others told to come again. */
  successionQuietMs: number
  /** For requests and uploads in flight at a hand-over. */
  successionGraceMs: number
  /** How often deadlines are looked at. */
  tickMs: number
}

const SECOND = 1000
const MINUTE = 60 * SECOND

export const defaultIngressLimits: IngressLimits = {
  maxConnections: 20_000,
  // A whole office behind one address stays below it, and twenty such addresses are needed to take every place.
  maxConnectionsPerAddress: 1_000,
  // As many as connections may come to it directly.
  maxApiRequestsPerAddress: 500,
  maxStreams: 128,
  maxHeadBytes: 32 * 1024,
  maxTargetBytes: 16 * 1024,
  maxFields: 128,
  maxBodyBytes: 0,
  maxUnsentBytes: 256 * 1024 * 1024,
  maxOpenStreams: 16_384,
  headTimeoutMs: 15 * SECOND,
  keepAliveMs: 75 * SECOND,
  bodyIdleMs: MINUTE,
  writeIdleMs: 2 * MINUTE,
  connectTimeoutMs: 5 * SECOND,
  upstreamIdleMs: 15 * MINUTE,
  tunnelIdleMs: 60 * MINUTE,
  poolIdleMs: 4 * SECOND,
  poolFreshMs: SECOND,
  maxHeldPerService: 1_000,
  maxHeld: 10_000,
  maxHeldWithBody: 1_000,
  wakeTimeoutMs: MINUTE,
  lingerMs: 2 * SECOND,
  closeGraceMs: 30 * SECOND,
  successionQuietMs: 30 * SECOND,
  successionGraceMs: 10 * MINUTE,
  tickMs: 250,
}
