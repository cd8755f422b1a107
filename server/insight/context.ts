import type { EdgeContext } from '../edge/context.ts'

export interface InsightContext extends EdgeContext {
  readonly version: string
}
