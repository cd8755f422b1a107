/** How many requests ended in which class of status; `none` where no whole answer reached the client, `1xx` for tunnels. */
export type RequestsByClass = Record<'none' | '1xx' | '2xx' | '3xx' | '4xx' | '5xx', number>

export interface TrafficWindow {
  requests: number
  byClass: RequestsByClass
  /** Answers the ingress gave in an instance's place: 502, 503 and 504. They are among the `5xx`. */
  ingressErrors: number
  brokenOff: number
  /** From the head received to the answer whole, within 9.1 %; 0 where nothing was answered. Tunnels are left out. */
  p50Ms: number
  p95Ms: number
  p99Ms: number
  bytesIn: number
  bytesOut: number
}

export interface TrafficReader {
  /**
   * What has ended since a time (milliseconds since 1970), up to the last reading, from up to a second before. An instance that is newer is
   * counted from its first request. A service's id stands for what no instance was asked for.
   */
  since(instanceIds: readonly string[], sinceMs: number): TrafficWindow
  /** Only what has surely ended after that time: counts begin at the first reading at or after it. */
  after(instanceIds: readonly string[], sinceMs: number): TrafficWindow
  /** When a request to one of these instances was last seen to begin or end, or is under way; 0 where nothing is known of them. */
  lastActiveAt(instanceIds: readonly string[]): number
  sampledAt(): number
}
