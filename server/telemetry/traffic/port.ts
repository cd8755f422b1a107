/** How many requests ended in which class of status; `none` where no whole answer reached the client, `1xx` for tunnels. */
export type RequestsByClass = Record<'none' | '1xx' | '2xx' | '3xx' | '4xx' | '5xx', number>

/** What was asked of some instances in a span of time, as the ingress counted it. */
export interface TrafficWindow {
  /** That are over. */
  requests: number
  byClass: RequestsByClass
  /** Answers the ingress gave in an instance's place: 502, 503 and 504. They are among the `5xx`. */
  ingressErrors: number
  /** Answers an instance began and did not finish. They are among the `none`. */
  brokenOff: number
  /** From the head received to the answer whole, within 9.1 %; 0 where nothing was answered. Tunnels are left out. */
  p50Ms: number
  p95Ms: number
  p99Ms: number
  /** Of bodies and tunnels that have ended. */
  bytesIn: number
  bytesOut: number
}

/** What the control plane knows of the requests to instances. It looks once a second and remembers the last quarter of an hour. */
export interface TrafficReader {
  /**
   * What has ended since a time (milliseconds since 1970, as `Context.now`), up to the last look. Counts begin at the last look at or
   * before that time, so up to a second more may be in them; an instance that is newer than that is counted from its first request,
   * also after a restart of the control plane. Ids nobody asked for count nothing. An id of a service stands for what no
   * instance of it was asked for.
   */
  since(instanceIds: readonly string[], sinceMs: number): TrafficWindow
  /** The same, but only what has surely ended after that time: counts begin at the first look at or after it. */
  after(instanceIds: readonly string[], sinceMs: number): TrafficWindow
  /**
   * When a request to one of these instances was last seen to begin or end, or, while one or a tunnel is under way, the last look; 0 where
   * nothing is known of them.
   */
  lastActiveAt(instanceIds: readonly string[]): number
  /** When the last look was, in milliseconds since 1970; 0 before the first. */
  lookedAt(): number
}
