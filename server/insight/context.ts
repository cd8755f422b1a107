import type { EdgeContext } from '../edge/context.ts'

/** What the routes of logs and metrics are given. */
export interface InsightContext extends EdgeContext {
  readonly version: string
}
