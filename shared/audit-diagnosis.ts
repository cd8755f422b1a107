import { type AuditEntry, canonicalEntry, entryStatement, sealedEntry } from './audit.ts'
import { type AuditFault, faultAt } from './audit-fault.ts'

/** What the runtime has to give; shared code knows no crypto of its own. */
export interface AuditProof {
  /** SHA-256 of the UTF-8 of a text, in hexadecimal. */
  hash(text: string): string
  isSigned(text: string, signature: string): boolean
}

export interface Accepted {
  sequence: number
  id: string
  hash: string
  digest: string
  signature: string
}

/** A place at which a chain does not go on. */
export interface Break extends AuditProof {
  workspaceId: string
  place: number
  entry: AuditEntry
  next: AuditEntry | undefined
  /** Entries since the last signature that was checked, oldest first. */
  segment: readonly Accepted[]
  /** How far a displaced entry is looked for. */
  newestSequence: number
}

/** Whether an entry accepted by its hashes carries the server's signature. */
export const isGenuine = ({ workspaceId, isSigned }: Pick<Break, 'workspaceId' | 'isSigned'>, { sequence, digest, signature }: Accepted) =>
  isSigned(entryStatement(workspaceId, { sequence, digest }), signature)

/** What has happened where a chain does not go on: the first entry that is not as it was written, and how. */
export function explainBreak(found: Break): AuditFault {
  const { entry, next, place, segment } = found
  if (entry.sequence !== place) return explainGap(found)
  // Whoever writes without the key can make hashes that fit, for a while.
  const forged = segment.find((one) => !isGenuine(found, one))
  if (forged !== undefined) return faultAt(wasWrittenAs(found, entry, place - 1) ? 'inserted' : 'rewritten', forged)
  const isNextHere = next?.sequence === place + 1 && wasWrittenAs(found, next, place)
  if (isNextHere && !wasWrittenAs(found, entry, place + 1)) return faultAt('inserted', entry)
  if (!wasWrittenAs(found, entry, place)) return explainContent(found)
  const { id, hash, signature } = entry
  return faultAt(
    isGenuine(found, { sequence: place, id, hash, digest: digestAs(found, entry, place), signature }) ? 'foreign' : 'changed',
    entry,
  )
}

function explainGap({ entry, next, place }: Break): AuditFault {
  if (entry.sequence < place) return faultAt('inserted', entry, ': an entry of this number has been there already')
  if (next?.sequence === place) return faultAt('swapped', entry, `: entry ${place} comes after it`)
  return faultAt('removed', { sequence: place }, `: entry ${entry.sequence} (${entry.id}) comes next`)
}

/** An entry whose content does not fit its hash may have been written in another place. */
function explainContent(found: Break): AuditFault {
  const { entry, next } = found
  const origin = originOf(found)
  if (origin === undefined) return faultAt('changed', entry)
  const shift = origin - entry.sequence
  if (shift > 0 && (next === undefined || wasWrittenAs(found, next, next.sequence + shift)))
    return faultAt('removed', { sequence: entry.sequence }, `: ${entry.id} has its number, and was written as entry ${origin}`)
  return faultAt('swapped', entry, `: it was written as entry ${origin}`)
}

function originOf(found: Break): number | undefined {
  const { entry } = found
  for (const near of [entry.sequence - 1, entry.sequence + 1]) if (wasWrittenAs(found, entry, near)) return near
  const furthest = Math.max(found.newestSequence, entry.sequence) + 1
  for (let sequence = 1; sequence <= furthest; sequence++) if (wasWrittenAs(found, entry, sequence)) return sequence
  return undefined
}

const digestAs = ({ workspaceId, hash }: Break, entry: AuditEntry, sequence: number): string =>
  hash(canonicalEntry(workspaceId, { ...entry, sequence }))

const wasWrittenAs = (found: Break, entry: AuditEntry, sequence: number): boolean =>
  found.hash(sealedEntry(digestAs(found, entry, sequence), entry.signature)) === entry.hash
