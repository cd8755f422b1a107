import { emptyTally, type Tally } from '../traffic/tally.ts'
import { addEncoded, encodeCounts } from './counts-codec.ts'
import { asked, type EntryTally, isSame, tallyKey } from './traffic-of.ts'
import type { StoredTally, TallyKey } from './write.ts'

/** An entry that the ingress names no more is forgotten after this time, in which a slow or restarted one would have named it again. */
const FORGOTTEN_AFTER_MS = 60 * 60_000

interface Held extends TallyKey {
  tally: Tally
  seenAtMs: number
  isStored: boolean
}

export interface KnownTraffic {
  increments(entries: readonly EntryTally[]): Map<string, Tally>
  changes(entries: readonly EntryTally[], atMs: number): { changed: StoredTally[]; gone: TallyKey[] }
  accept(entries: readonly EntryTally[], atMs: number): void
  doubt(): void
}

export function createKnownTraffic(stored: readonly StoredTally[], atMs: number): KnownTraffic {
  const held = new Map<string, Held>()
  for (const { epoch, entry, beganAt, counts } of stored) {
    const tally = emptyTally()
    addEncoded(tally, counts)
    held.set(tallyKey({ epoch, entry, beganAt }), { epoch, entry, beganAt, tally, seenAtMs: atMs, isStored: true })
  }
  const isStored = (entry: EntryTally): boolean => {
    const known = held.get(tallyKey(entry))
    return known?.isStored === true && isSame(known.tally, entry.tally)
  }
  const gone = (entries: readonly EntryTally[], now: number): Held[] => {
    const present = new Set(entries.map(tallyKey))
    return [...held.values()].filter((one) => now - one.seenAtMs > FORGOTTEN_AFTER_MS && !present.has(tallyKey(one)))
  }
  return {
    increments: (entries) => asked(entries, (key) => held.get(key)?.tally),
    changes: (entries, now) => ({
      changed: entries.flatMap((entry) => {
        const { epoch, beganAt, tally } = entry
        return isStored(entry) ? [] : [{ epoch, entry: entry.entry, beganAt, counts: encodeCounts(tally) }]
      }),
      gone: gone(entries, now),
    }),
    accept(entries, now) {
      for (const { epoch, entry, beganAt, tally } of entries) {
        held.set(tallyKey({ epoch, entry, beganAt }), { epoch, entry, beganAt, tally, seenAtMs: now, isStored: true })
      }
      for (const one of gone(entries, now)) held.delete(tallyKey(one))
    },
    doubt() {
      for (const one of held.values()) one.isStored = false
    },
  }
}
