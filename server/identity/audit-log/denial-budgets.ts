import type { DeniedRequest } from '../../http/handlers/audit.ts'

/** Of attempts by nobody we know, on nothing of anybody; what is refused beyond is counted. */
export const MAX_ENTRIES_PER_HOUR = 1000
/** Of those in one workspace, or on one account: nobody uses up the room of others, so that theirs are not told. */
export const MAX_ENTRIES_OF_ONE = 200
const HOUR_MS = 60 * 60_000

/** What one workspace or account, or everything that is nobody's, has had of its room in this hour. */
export interface DenialBudget {
  maxEntries: number
  written: number
  suppressed: number
  /** Whose repeats are counted now. */
  counted: number
  /** Tells in whose log it stands. */
  first: DeniedRequest
}

export interface DenialBudgets {
  of(attempt: DeniedRequest): DenialBudget
  /** Nobody's repeats are counted any more. */
  countAnew(): void
}

/** `tellLeftOut` is called at the end of an hour with each budget that something was left out of. */
export function createBudgets(now: () => number, tellLeftOut: (budget: DenialBudget) => void): DenialBudgets {
  const budgets = new Map<string, DenialBudget>()
  let sinceAt = now()
  const turnHour = () => {
    if (now() - sinceAt < HOUR_MS) return
    for (const budget of budgets.values()) if (budget.suppressed > 0) tellLeftOut(budget)
    budgets.clear()
    sinceAt = now()
  }
  return {
    of(attempt) {
      turnHour()
      const owner = ownerOf(attempt)
      const known = budgets.get(owner ?? '')
      if (known !== undefined) return known
      const maxEntries = owner === undefined ? MAX_ENTRIES_PER_HOUR : MAX_ENTRIES_OF_ONE
      const budget: DenialBudget = { maxEntries, written: 0, suppressed: 0, counted: 0, first: attempt }
      budgets.set(owner ?? '', budget)
      return budget
    },
    countAnew() {
      for (const budget of budgets.values()) budget.counted = 0
    },
  }
}

/** Whether there is room for one more entry; takes it, or counts what is left out. */
export function hasRoom(budget: DenialBudget): boolean {
  const isRoom = budget.written < budget.maxEntries
  budget[isRoom ? 'written' : 'suppressed'] += 1
  return isRoom
}

/** In whose room it is: that of a workspace or of an account; undefined for a stranger's attempt on nothing that is anybody's. */
const ownerOf = ({ actor, facts }: DeniedRequest): string | undefined => facts.workspaceIds?.[0] ?? actor?.workspaceId ?? facts.actor?.id
