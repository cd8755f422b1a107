import type { AppContext, AppWork } from '../apps/context.ts'
import type { Poke } from '../platform/work/poke.ts'
import type { EdgeSettings } from './settings.ts'

export interface EdgeContext extends AppContext {
  readonly config: AppContext['config'] & EdgeSettings
  /** Secret that the ingress shows with each request to our own API that came through it. */
  readonly ingressProof: string
  readonly work: AppWork & { readonly poke: Poke<Parameters<AppWork['poke']>[0] | 'domain'> }
}
