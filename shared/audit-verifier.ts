/**
 * Memory does not grow with the chain. Hashes are checked of every entry, signatures of one in a thousand and of the last, because each
 * vouches for all before it. After a misfit the signatures since the last good one are checked one by one, so that the first bad entry has
 * a name.
 */
import { type AuditEntry, type AuditHead, canonicalEntry, genesisHash, headStatement, sealedEntry } from './audit.ts'
import { type Accepted, type AuditProof, explainBreak, isGenuine } from './audit-diagnosis.ts'
import { type AuditFault, faultAt } from './audit-fault.ts'

export interface VerifierOptions extends AuditProof {
  workspaceId: string
  /** Where the chain is entered; 1 is its beginning. */
  fromSequence: number
  /** The newest entry's number, where it is known: a displaced entry is looked for up to there. */
  newestSequence: number
}

export interface AuditVerdict {
  entries: number
  last: { sequence: number; hash: string } | undefined
  fault: AuditFault | undefined
}

export interface ChainVerifier {
  add(entry: AuditEntry): void
  end(head: AuditHead | undefined): AuditVerdict
}

const SEGMENT_ENTRIES = 1000

/** Verifies the entries given to `add` in their order; `end` tells what came of it. It stops at the first fault. */
export function createChainVerifier(options: VerifierOptions): ChainVerifier {
  let entries = 0
  let last: Accepted | undefined
  let segment: Accepted[] = []
  /** One that does not fit: what it is shows by the one after it. */
  let suspect: AuditEntry | undefined
  let fault: AuditFault | undefined

  const place = (): number => (last === undefined ? options.fromSequence : last.sequence + 1)
  const explain = (entry: AuditEntry, next: AuditEntry | undefined): AuditFault =>
    explainBreak({ ...options, place: place(), entry, next, segment })

  /** The first of the segment whose signature is not the server's, when its last one's is not. */
  function checkSegment(): void {
    const newest = segment.at(-1)
    const forged = newest === undefined || isGenuine(options, newest) ? undefined : segment.find((one) => !isGenuine(options, one))
    segment = []
    if (forged !== undefined) fault = faultAt('rewritten', forged)
  }

  function look(entry: AuditEntry): void {
    if (!isEntry(entry)) {
      fault = faultAt('malformed', { sequence: place() })
      return
    }
    const accepted = entry.sequence === place() && follows(last, entry, options.fromSequence) ? acceptable(options, entry) : undefined
    if (accepted === undefined) {
      suspect = entry
      return
    }
    last = accepted
    segment.push(accepted)
    // Where a chain is entered in the middle, only the signature tells that it is ours.
    const isEntrance = entries === 1 && options.fromSequence > 1
    if (segment.length === SEGMENT_ENTRIES || isEntrance) checkSegment()
  }

  return {
    add(entry) {
      entries += 1
      if (fault !== undefined) fault = displaced(fault, entry)
      else if (suspect !== undefined) fault = explain(suspect, entry)
      else look(entry)
    },
    end(head) {
      if (fault === undefined && suspect !== undefined) fault = explain(suspect, undefined)
      if (fault === undefined) checkSegment()
      fault ??= faultOfHead(options, head, last)
      return { entries, last: last && { sequence: last.sequence, hash: last.hash }, fault }
    },
  }
}

function follows(last: Accepted | undefined, { previousHash }: AuditEntry, fromSequence: number): boolean {
  if (last !== undefined) return previousHash === last.hash
  return fromSequence > 1 || previousHash === genesisHash
}

function acceptable({ workspaceId, hash }: VerifierOptions, entry: AuditEntry): Accepted | undefined {
  const { sequence, id, signature } = entry
  const digest = hash(canonicalEntry(workspaceId, entry))
  return hash(sealedEntry(digest, signature)) === entry.hash ? { sequence, id, hash: entry.hash, digest, signature } : undefined
}

/** What was taken for removed may come later. */
function displaced(fault: AuditFault, entry: AuditEntry): AuditFault {
  return fault.kind === 'removed' && entry.sequence === fault.sequence ? faultAt('swapped', entry, ': it comes too late') : fault
}

function faultOfHead(options: VerifierOptions, head: AuditHead | undefined, last: Accepted | undefined): AuditFault | undefined {
  if (head === undefined) return last === undefined ? undefined : faultAt('checkpoint', last)
  const reached = last?.sequence ?? options.fromSequence - 1
  if (!options.isSigned(headStatement(options.workspaceId, head), head.signature)) return faultAt('checkpoint', last ?? head)
  if (head.sequence > reached) return faultAt('cut', { sequence: reached + 1 })
  return last !== undefined && (head.sequence < reached || head.hash !== last.hash) ? faultAt('checkpoint', last) : undefined
}

const entryKeys: ReadonlySet<string> = new Set([
  ...['id', 'sequence', 'timestamp', 'event', 'status', 'actor', 'target', 'ip', 'requestId', 'metadata'],
  ...['previousHash', 'hash', 'signature'],
])
const actorKeys: ReadonlySet<string> = new Set(['type', 'id', 'email'])

/** An entry holds nothing besides its fields, since no hash would cover it. */
function isEntry(entry: AuditEntry): boolean {
  for (const key in entry) if (!entryKeys.has(key)) return false
  if (typeof entry.actor !== 'object' || entry.actor === null) return false
  for (const key in entry.actor) if (!actorKeys.has(key)) return false
  return typeof entry.signature === 'string' && typeof entry.hash === 'string'
}
