/** Bounds of time and size within which the ingress serves. Times in milliseconds, sizes in bytes. */
export interface IngressLimits {
  maxConnections: number
  /** One client address, or one /64 in IPv6, may have so many; trusted proxies any number. 0 is no limit. */
  maxConnectionsPerAddress: number
  /** Requests under way to the control plane, of one client address; 0 is no limit. */
  maxApiRequestsPerAddress: number
  maxStreams: number
  maxHeadBytes: number
  maxTargetBytes: number
  maxFields: number
  /** 0 is no limit. */
  maxBodyBytes: number
  /** What may wait in memory for clients to take it, or for instances to take it from them: of all connections. */
  maxUnsentBytes: number
  /** Requests of HTTP/2 at a time, of all connections: each may take a connection to an instance, and so a descriptor. */
  maxOpenStreams: number
  /** Time from the first byte of a head to its last; further bytes do not extend it. */
  headTimeoutMs: number
  keepAliveMs: number
  /** Time without a byte of a request body that is being waited for. */
  bodyIdleMs: number
  /** A client that has something to take must take some of it in this time: see `MIN_PROGRESS_BYTES` for HTTP/2. */
  writeIdleMs: number
  connectTimeoutMs: number
  /** Time without a byte from an upstream that owes an answer. */
  upstreamIdleMs: number
  tunnelIdleMs: number
  /** Time for a client of a database to wait for its turn to log in, and then to do so. */
  loginWaitMs: number
  loginTimeoutMs: number
  /** Time without any sign of life of who is connected to a database. TCP asks those without room for more every two minutes, so it is more than that. */
  vanishedMs: number
  /** Clients that log in to one database at a time. Below the connections of the smallest plan, so that those with a password find a place. */
  maxLogins: number
  maxLoginsPerAddress: number
  /** Just below the 5 s after which Node closes its side of an idle connection. */
  poolIdleMs: number
  /** A request that cannot be repeated takes a pooled connection only while it is this fresh. */
  poolFreshMs: number
  maxHeldPerService: number
  maxHeld: number
  /** Held requests that come with a body, the beginning of which waits with them. */
  maxHeldWithBody: number
  wakeTimeoutMs: number
  lingerMs: number
  closeGraceMs: number
  /** Time for clients to leave idle connections and tunnels after a hand-over; then connections are closed, tunnels told to come again. */
  successionQuietMs: number
  successionGraceMs: number
  tickMs: number
}

const SECOND = 1000
const MINUTE = 60 * SECOND

export const defaultIngressLimits: IngressLimits = {
  maxConnections: 20_000,
  // A whole office behind one address stays below it, and twenty such addresses are needed to take every place.
  maxConnectionsPerAddress: 1_000,
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
  loginWaitMs: 30 * SECOND,
  loginTimeoutMs: 10 * SECOND,
  vanishedMs: 3 * MINUTE,
  maxLogins: 40,
  maxLoginsPerAddress: 8,
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
