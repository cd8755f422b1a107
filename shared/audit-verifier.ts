/**
 * Verifies the chain of an audit log, entry by entry, in memory that does not grow with it. Hashes are checked of every entry;
 * signatures of one in a thousand and of the last, because each vouches for all before it. Where something does not fit, the
 * signatures since the last that did are checked one by one, so that the first bad entry has a name.
 */
import { type AuditEntry, type AuditHead, canonicalEntry, entryStatement, genesisHash, headStatement, sealedEntry } from './audit.ts'
import { type AuditFault, faultAt } from './audit-fault.ts'

/** What the runtime has to give; shared code knows no crypto of its own. */
export interface AuditProof {
  /** SHA-256 of the UTF-8 of a text, in hexadecimal. */
  hash(text: string): string
  /** Whether this is the Ed25519 signature of the text by the key that is trusted. */
  isSigned(text: string, signature: string): boolean
}

export interface VerifierOptions extends AuditProof {
  workspaceId: string
  /** Where the chain is entered; absent, at its beginning. */
  fromSequence?: number
  /** Of the newest entry, as far as it is known beforehand: how far a displaced entry is looked for. */
  newestSequence: number
}

export interface AuditVerdict {
  /** How many were looked at. */
  entries: number
  /** The last of those that are as they were written. */
  last: { sequence: number; hash: string } | undefined
  fault: AuditFault | undefined
}

export interface ChainVerifier {
  add(entry: AuditEntry): void
  /** What was found so far; undefined also while an entry that does not fit waits for the one after it. */
  fault(): AuditFault | undefined
  end(head: AuditHead | undefined): AuditVerdict
}

/** Entries for each signature that is checked. */
const SEGMENT_ENTRIES = 1000

interface Accepted {
  sequence: number
  id: string
  hash: string
  digest: string
  signature: string
}

export function createChainVerifier(options: VerifierOptions): ChainVerifier {
  const { workspaceId, fromSequence = 1, hash, isSigned } = options
  let entries = 0
  let last: Accepted | undefined
  /** Accepted since the last signature that was checked, oldest first. */
  let segment: Accepted[] = []
  /** One that does not fit: what it is shows by the one after it. */
  let suspect: AuditEntry | undefined
  let fault: AuditFault | undefined

  const digestAt = (entry: AuditEntry, sequence: number): string => hash(canonicalEntry(workspaceId, { ...entry, sequence }))
  const isWhole = (entry: AuditEntry, sequence: number): boolean =>
    hash(sealedEntry(digestAt(entry, sequence), entry.signature)) === entry.hash
  const isGenuine = ({ sequence, digest, signature }: Accepted): boolean =>
    isSigned(entryStatement(workspaceId, { sequence, digest }), signature)
  const expected = (): number => (last === undefined ? fromSequence : last.sequence + 1)

  function accept(entry: AuditEntry): boolean {
    const { sequence, id, previousHash, signature } = entry
    const follows = last === undefined ? fromSequence > 1 || previousHash === genesisHash : previousHash === last.hash
    if (sequence !== expected() || !follows) return false
    const digest = hash(canonicalEntry(workspaceId, entry))
    if (hash(sealedEntry(digest, signature)) !== entry.hash) return false
    last = { sequence, id, hash: entry.hash, digest, signature }
    segment.push(last)
    return true
  }

  /** The first of the segment whose signature is not the server's, once its last one's is not. */
  function checkSegment(): void {
    const newest = segment.at(-1)
    const forged = newest === undefined || isGenuine(newest) ? undefined : segment.find((one) => !isGenuine(one))
    segment = []
    if (forged !== undefined) fault ??= faultAt('rewritten', forged)
  }

  /** Where an entry was written, if that is not where it stands. */
  function trueSequenceOf(entry: AuditEntry): number | undefined {
    const near = [entry.sequence - 1, entry.sequence + 1]
    for (const sequence of near) if (isWhole(entry, sequence)) return sequence
    const furthest = Math.max(options.newestSequence, entry.sequence) + 1
    for (let sequence = 1; sequence <= furthest; sequence++) if (isWhole(entry, sequence)) return sequence
    return undefined
  }

  function explain(entry: AuditEntry, next: AuditEntry | undefined): AuditFault {
    const place = expected()
    if (entry.sequence !== place) return explainGap(entry, next, place)
    const forged = segment.find((one) => !isGenuine(one))
    if (forged !== undefined) return faultAt(isWhole(entry, place - 1) ? 'inserted' : 'rewritten', forged)
    if (next !== undefined && next.sequence === place + 1 && isWhole(next, place)) return faultAt('inserted', entry)
    if (isWhole(entry, place)) {
      const { id, hash: own, signature } = entry
      const genuine = isGenuine({ sequence: place, id, hash: own, digest: digestAt(entry, place), signature })
      return faultAt(genuine ? 'foreign' : 'changed', entry)
    }
    return explainContent(entry, next)
  }

  /** Of an entry whose content does not fit its hash. */
  function explainContent(entry: AuditEntry, next: AuditEntry | undefined): AuditFault {
    const { sequence } = entry
    const origin = trueSequenceOf(entry)
    if (origin === undefined) return faultAt('changed', entry)
    const shift = origin - sequence
    const isShifted = shift > 0 && (next === undefined || isWhole(next, next.sequence + shift))
    if (isShifted) return faultAt('removed', { sequence }, `: ${entry.id} was numbered ${sequence} instead of ${origin}`)
    return faultAt('swapped', entry, `: it was written as entry ${origin}`)
  }

  return {
    fault: () => fault,
    add(entry) {
      entries += 1
      if (fault !== undefined) return void (fault = displaced(fault, entry))
      if (suspect !== undefined) {
        const bad = suspect
        suspect = undefined
        fault = explain(bad, entry)
      } else if (!isEntry(entry)) fault = faultAt('changed', { sequence: expected() })
      else if (!accept(entry)) suspect = entry
      else if (segment.length >= SEGMENT_ENTRIES || (segment.length === 1 && entries === 1 && fromSequence > 1)) checkSegment()
    },
    end(head) {
      if (suspect !== undefined) fault ??= explain(suspect, undefined)
      if (fault === undefined) checkSegment()
      fault ??= faultOfHead({ workspaceId, isSigned, head, last, fromSequence })
      return { entries, last, fault }
    },
  }
}

/** An entry that is looked for is missing, or only stands elsewhere. */
function explainGap(entry: AuditEntry, next: AuditEntry | undefined, place: number): AuditFault {
  if (entry.sequence < place) return faultAt('inserted', entry, ', where an entry of this number has been already')
  if (next?.sequence === place) return faultAt('swapped', entry, ` than entry ${place}, which comes after it`)
  return faultAt('removed', { sequence: place }, `: entry ${entry.sequence} (${entry.id}) comes next`)
}

/** What was taken for removed may come later. */
function displaced(fault: AuditFault, entry: AuditEntry): AuditFault {
  return fault.kind === 'removed' && entry.sequence === fault.sequence ? faultAt('swapped', entry, ': it comes later') : fault
}

interface EndOfChain {
  workspaceId: string
  isSigned: AuditProof['isSigned']
  head: AuditHead | undefined
  last: { sequence: number; id: string; hash: string } | undefined
  fromSequence: number
}

function faultOfHead({ workspaceId, isSigned, head, last, fromSequence }: EndOfChain): AuditFault | undefined {
  if (head === undefined) return last === undefined ? undefined : faultAt('checkpoint', last)
  if (!isSigned(headStatement(workspaceId, head), head.signature)) return faultAt('checkpoint', last ?? { sequence: head.sequence })
  const reached = last?.sequence ?? fromSequence - 1
  if (head.sequence > reached) return faultAt('cut', { sequence: reached + 1 })
  return last !== undefined && (head.sequence < reached || head.hash !== last.hash) ? faultAt('checkpoint', last) : undefined
}

const entryKeys: ReadonlySet<string> = new Set([
  ...['id', 'sequence', 'timestamp', 'event', 'status', 'actor', 'target', 'ip', 'requestId', 'metadata'],
  ...['previousHash', 'hash', 'signature'],
])
const actorKeys: ReadonlySet<string> = new Set(['type', 'id', 'email'])

/** Whether it has the form of an entry and nothing besides, which no hash would cover. */
function isEntry(entry: AuditEntry): boolean {
  for (const key in entry) if (!entryKeys.has(key)) return false
  if (typeof entry.actor !== 'object' || entry.actor === null) return false
  for (const key in entry.actor) if (!actorKeys.has(key)) return false
  return typeof entry.signature === 'string' && typeof entry.hash === 'string'
}
