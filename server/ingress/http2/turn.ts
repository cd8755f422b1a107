export interface TurnMember {
  endOfTurn(): void
  failed(error: unknown): void
}

let members: TurnMember[] = []

/** Calls `endOfTurn` when all ready sockets have been read: answers that came on many connections leave together on one, in one write. */
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
