/** What is to be done on a primary for those who follow it, out of the slots that its server has. */

export interface Follower {
  id: string
  slot: string
  /** Number of the segment in which its log ends; undefined while its server does not answer. */
  receivedSegment: number | undefined
}

export interface KnownSlot {
  name: string
  isActive: boolean
  isLost: boolean
}

export type ReplicationStep =
  | { kind: 'make_slot'; slot: string }
  | { kind: 'drop_slot'; slot: string }
  /** What it has does not lead to what there is any more: all of it is taken anew. */
  | { kind: 'copy_anew'; id: string }

export interface Replication {
  followers: readonly Follower[]
  slots: readonly KnownSlot[]
  oldestSegment: number
}

export function planReplication({ followers, slots, oldestSegment }: Replication): ReplicationStep[] {
  const bySlot = new Map(slots.map((slot) => [slot.name, slot]))
  const steps = followers.flatMap(({ id, slot, receivedSegment }): ReplicationStep[] => {
    const known = bySlot.get(slot)
    const make = { kind: 'make_slot', slot } as const
    if (known?.isLost) return [{ kind: 'drop_slot', slot }, make, { kind: 'copy_anew', id }]
    const isBehind = receivedSegment !== undefined && known?.isActive !== true && receivedSegment < oldestSegment
    return [...(known === undefined ? [make] : []), ...(isBehind ? [{ kind: 'copy_anew', id } as const] : [])]
  })
  const wanted = new Set(followers.map(({ slot }) => slot))
  const unwanted = slots.filter(({ name }) => !wanted.has(name)).map(({ name }) => ({ kind: 'drop_slot', slot: name }) as const)
  return [...unwanted, ...steps]
}
