export type AuditFaultKind =
  | 'changed'
  | 'removed'
  | 'swapped'
  | 'inserted'
  /** Written by somebody without the key, with hashes that fit. */
  | 'rewritten'
  /** Genuine, but not the continuation of what stands before it. */
  | 'foreign'
  | 'cut'
  /** The signature of the newest entry, as the newest, is missing or wrong. */
  | 'checkpoint'
  /** Signed with another key than the one that is known. */
  | 'other_key'
  /** Not what was seen at an earlier verification, or stands in an earlier export. */
  | 'unlike_before'
  | 'malformed'

export interface AuditFault {
  kind: AuditFaultKind
  sequence: number
  id?: string
  message: string
}

const explanations: Record<AuditFaultKind, string> = {
  changed: 'was changed: its content does not fit its hash',
  removed: 'was removed',
  swapped: 'stands in the place of another',
  inserted: 'was put in: those after it were numbered anew',
  rewritten: "does not carry the server's signature: from here on, somebody without the key has written",
  foreign: 'is genuine, but does not follow the one before it: it comes from another state of the log',
  cut: 'is missing: the log ends before it, and is signed further',
  checkpoint: 'is the newest, and not signed as the newest: what came after it was cut off, or the signature was changed',
  other_key: 'was signed with another key than the one known of this server',
  unlike_before: 'is not the one that was there before: the log was put back to an older state, or replaced',
  malformed: 'is no entry of an audit log',
}

/** What is wrong with an entry, in a sentence that names it; `more` goes before its full stop. */
export const faultAt = (kind: AuditFaultKind, { sequence, id }: { sequence: number; id?: string }, more = ''): AuditFault => ({
  kind,
  sequence,
  ...(id !== undefined && { id }),
  message: `Entry ${sequence}${id === undefined ? '' : ` (${id})`} ${explanations[kind]}${more}.`,
})
