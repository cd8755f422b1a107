import type { Operation } from '../../../shared/operation.ts'

/** Kinds of operations that have a limit of their own, beside the one for all requests. */
export type RateClass = 'read' | 'write' | 'deploy' | 'sign-in'

/** What an operation counts as. Whoever calls without a credential to change something mostly signs in. */
export function rateClassOf({ access, method, takesSecret }: Operation): RateClass {
  if (takesSecret ?? (access === 'public' && method !== 'GET')) return 'sign-in'
  if (access === 'deploys.create') return 'deploy'
  return method === 'GET' ? 'read' : 'write'
}
