import {
  administratorsIn,
  copyOf,
  gains,
  heldBy,
  holderOf,
  linesOf,
  mayHandOut,
  reachedBy,
  reachGains,
  type State,
  type Subject,
} from './model.ts'
import { apply, type Move } from './moves.ts'

/** A move and what the server answered to it. */
export interface Answered {
  move: Move
  status: number
}

/**
 * The state after moves that were sent at once, if there is an order in which the rules give just these answers and leave just what the
 * database holds; undefined where there is none.
 *
 * @throws Error when in that order somebody gained what whoever gave it did not hold, or no administrator was left.
 */
export function explain(state: State, answered: readonly Answered[], stored: readonly string[]): State | undefined {
  for (const order of ordersOf(answered)) {
    let after = copyOf(state)
    const steps: { before: State; move: Move }[] = []
    const fits = order.every(({ move, status }) => {
      const before = after
      steps.push({ before, move })
      after = copyOf(before)
      if (apply(after, move) === status) return true
      after = before
      return status === 403 && isNarrowed(move.by, state, before)
    })
    if (!fits || linesOf(after).join('\n') !== stored.join('\n')) continue
    for (const [index, { before, move }] of steps.entries()) requireGiven(before, move, steps[index + 1]?.before ?? after)
    return after
  }
  return undefined
}

/** Whoever lost reach or right while their request was on its way is asked to send it again. */
function isNarrowed(by: Subject, before: State, now: State): boolean {
  const [had, has] = [holderOf(before, by), holderOf(now, by)]
  if (had === undefined || has === undefined) return false
  const isScopeNarrowed = has.scope !== null && (had.scope === null || had.scope.some((id) => has.scope?.includes(id) !== true))
  const lacks = (state: State) => heldBy(state, by)?.has('environments.manage_protected') !== true
  return isScopeNarrowed || (!lacks(before) && lacks(now))
}

/** Told apart from the rules of each move: whatever it was, who gained something got it from somebody who held it. */
function requireGiven(before: State, move: Move, after: State): void {
  const giver = move.kind === 'accept' ? before.invites.get(move.invite)?.inviter : move.by
  for (const { subject, permissions } of gains(before, after)) {
    if (giver === undefined || !mayHandOut(before, giver, permissions))
      throw new Error(`${subject.kind} ${subject.id} gained ${permissions.join(', ')}, which ${giver?.id ?? 'nobody'} could not give`)
  }
  for (const { subject, services } of reachGains(before, after)) {
    // Whoever makes a service reaches it; whoever moves one, or lets somebody at one, reached it before.
    const reached = giver && reachedBy(move.kind === 'createService' ? after : before, giver)
    if (!services.every((service) => reached?.has(service)))
      throw new Error(`${subject.kind} ${subject.id} came to reach ${services.join(', ')}, which ${giver?.id ?? 'nobody'} could not give`)
  }
  if (administratorsIn(after) === 0) throw new Error('No administrator is left')
}

function ordersOf<T>(items: readonly T[]): T[][] {
  if (items.length <= 1) return [[...items]]
  return items.flatMap((first, index) => ordersOf(items.toSpliced(index, 1)).map((rest) => [first, ...rest]))
}
