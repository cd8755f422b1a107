import type { StoredHook } from '../store/hooks.ts'

export interface HookFacts {
  wanted: ReadonlySet<string>
  hooks: readonly StoredHook[]
  now: number
}

export interface HookStep {
  do: 'ensure' | 'remove'
  hook: StoredHook
}

/** What is to be done now for each repository to have a webhook that is deployed from, and no other. */
export function planHooks({ wanted, hooks, now }: HookFacts): HookStep[] {
  return hooks.flatMap((hook): HookStep[] => {
    if (hook.nextAttemptAt > now) return []
    if (!wanted.has(hook.repo)) return [{ do: 'remove', hook }]
    return hook.hookId === null ? [{ do: 'ensure', hook }] : []
  })
}

export function nextHookAt({ wanted, hooks }: Omit<HookFacts, 'now'>): number | undefined {
  const waiting = hooks.filter(({ repo, hookId }) => hookId === null || !wanted.has(repo))
  return waiting.length === 0 ? undefined : Math.min(...waiting.map(({ nextAttemptAt }) => nextAttemptAt))
}
