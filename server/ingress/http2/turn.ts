/** Something that has collected what is to be done once for all events of this turn of the event loop. */
export interface TurnMember {
  endOfTurn(): void
  /** It has thrown this: the others must not suffer. */
  failed(error: unknown): void
}

let members: TurnMember[] = []

/**
 * Calls `endOfTurn` when all sockets that were ready have been read: answers that came on many connections leave together on one,
 * in one write. To be asked for once a turn.
 */
export function atEndOfTurn(member: TurnMember): void {
  if (members.length === 0) setImmediate(endTurn)
  members.push(member)
}

function endTurn(): void {
  const due = members
  members = []
  for (const member of due) {
    try {
      member.endOfTurn()
    } catch (error) {
      member.failed(error)
    }
  }
}
