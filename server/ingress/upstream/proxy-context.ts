import type { Deadlines } from '../limits/deadlines.ts'
import type { IngressLimits } from '../limits/limits.ts'
import type { Targets } from './targets.ts'

export interface ProxyContext {
  readonly limits: IngressLimits
  readonly deadlines: Deadlines
  readonly targets: Targets
  log(line: string): void
}
