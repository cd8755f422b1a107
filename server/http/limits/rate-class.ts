import type { Operation } from '../../../shared/operation.ts'

export type RateClass = 'read' | 'write' | 'deploy' | 'sign-in'

export function rateClassOf({ access, method, takesSecret }: Operation): RateClass {
  if (takesSecret ?? (access === 'public' && method !== 'GET')) return 'sign-in'
  if (access === 'deploys.create') return 'deploy'
  return method === 'GET' ? 'read' : 'write'
}
