import type { AppContext, AppWork } from '../apps/context.ts'
import type { Poke } from '../platform/work/poke.ts'
import type { EdgeSettings } from './settings.ts'

/** What routing, domains and certificates are given. */
export interface EdgeContext extends AppContext {
  readonly config: AppContext['config'] & EdgeSettings
  /** What the ingress shows with each request to our own API that came through it. */
  readonly ingressProof: string
  readonly work: AppWork & { readonly poke: Poke<Parameters<AppWork['poke']>[0] | 'domain'> }
}
