import type { DeniedRequest } from '../../http/handlers/audit.ts'

/** Attempts by nobody we know, on nothing of anybody, are counted beyond this. */
export const MAX_ENTRIES_PER_HOUR = 1000
/** One workspace or account has this room, so that nobody uses up that of others. */
export const MAX_ENTRIES_OF_ONE = 200
const HOUR_MS = 60 * 60_000

export interface DenialBudget {
  maxEntries: number
  written: number
  suppressed: number
  counted: number
  first: DeniedRequest
}

export interface DenialBudgets {
  of(denied: DeniedRequest): DenialBudget
  countAnew(): void
}

export function createBudgets(now: () => number, reportSuppressed: (budget: DenialBudget) => void): DenialBudgets {
  const budgets = new Map<string, DenialBudget>()
  let sinceAt = now()
  const endHour = () => {
    if (now() - sinceAt < HOUR_MS) return
    for (const budget of budgets.values()) if (budget.suppressed > 0) reportSuppressed(budget)
    budgets.clear()
    sinceAt = now()
  }
  return {
    of(denied) {
      endHour()
      const owner = ownerOf(denied)
      const known = budgets.get(owner ?? '')
      if (known !== undefined) return known
      const maxEntries = owner === undefined ? MAX_ENTRIES_PER_HOUR : MAX_ENTRIES_OF_ONE
      const budget: DenialBudget = { maxEntries, written: 0, suppressed: 0, counted: 0, first: denied }
      budgets.set(owner ?? '', budget)
      return budget
    },
    countAnew() {
      for (const budget of budgets.values()) budget.counted = 0
    },
  }
}

export function hasRoom(budget: DenialBudget): boolean {
  const isRoom = budget.written < budget.maxEntries
  budget[isRoom ? 'written' : 'suppressed'] += 1
  return isRoom
}

const ownerOf = ({ actor, facts }: DeniedRequest): string | undefined => facts.workspaceIds?.[0] ?? actor?.workspaceId ?? facts.actor?.id
