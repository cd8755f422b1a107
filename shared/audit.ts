/**
 * The form of the audit log, the same for who writes it and who verifies it. The entries of a workspace are a chain: each has the
 * hash of the one before it, and its own hash covers every field. Each is signed, and the newest is signed once more as the newest.
 */
import { type Static, Type } from '@sinclair/typebox'
import { Id } from './id.ts'
import { Many, OneOf, PageOf, pageItems, Time, TimeInput } from './schema.ts'

export const auditStatuses = ['success', 'error'] as const
export const auditActorTypes = ['user', 'rest_api', 'system'] as const

/** What `previousHash` of a chain's first entry is. */
export const genesisHash = '0'.repeat(64)

// Open where the log itself is closed: an entry that was tampered with is still shown, so that it can be found.
const AuditActor = Type.Object({
  type: Type.String({ description: `One of ${auditActorTypes.join(', ')}` }),
  id: Type.Optional(Type.String({ description: 'Of the user or API key; static_token for the token of the operator' })),
  email: Type.Optional(Type.String()),
})

export const AuditEntry = Type.Object(
  {
    id: Type.String({ description: 'Id of the entry', examples: ['aud-0b1c2d3e4f5g6h7i8j9k'] }),
    sequence: Type.Integer({ description: 'Its place in the chain of the workspace: 1, 2, 3 … without gaps' }),
    timestamp: Type.String({ description: 'RFC 3339, UTC, milliseconds', examples: ['2026-01-31T09:30:00.000Z'] }),
    event: Type.String({ examples: ['service.updated'] }),
    status: Type.String({ description: `One of ${auditStatuses.join(', ')}` }),
    actor: AuditActor,
    target: Type.Optional(Type.String({ description: 'Id of what was changed' })),
    ip: Type.Optional(Type.String({ description: 'Address of the client' })),
    requestId: Type.Optional(Type.String()),
    metadata: Type.Record(Type.String(), Type.Unknown(), { description: 'What was asked for and what it changed; secrets are hidden' }),
    previousHash: Type.String({ description: 'Hash of the entry before it' }),
    hash: Type.String({ description: 'SHA-256 over the entry with the hash before it' }),
    signature: Type.String({ description: "Ed25519 by the server's audit key, base64" }),
  },
  { $id: 'AuditEntry' },
)
export type AuditEntry = Static<typeof AuditEntry>

export const AuditHead = Type.Object({
  sequence: Type.Integer(),
  hash: Type.String(),
  timestamp: Time,
  signature: Type.String({ description: "Ed25519 by the server's audit key, base64" }),
})
export type AuditHead = Static<typeof AuditHead>

export const AuditCheckpoint = Type.Object({
  workspaceId: Id('workspace'),
  publicKey: Type.String({ description: "Raw Ed25519 public key of the server's audit key, base64" }),
  head: Type.Optional(AuditHead),
})
export type AuditCheckpoint = Static<typeof AuditCheckpoint>

export const maxAuditLimit = 1000

export const AuditQuery = {
  startTime: Type.Optional(TimeInput),
  endTime: Type.Optional(TimeInput),
  direction: Type.Optional(OneOf(['backward', 'forward'], 'backward: newest first, which is usual · forward: oldest first')),
  event: Many(Type.String({ maxLength: 100, examples: ['service.updated'] })),
  actor: Many(Type.String({ maxLength: 254, description: 'Id or e-mail address' })),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      description: 'How many items, 1 to 1000; larger is clamped',
      default: pageItems.default,
      examples: [pageItems.default],
      'x-clamped': maxAuditLimit,
    }),
  ),
  cursor: Type.Optional(Type.String({ maxLength: 200, description: 'Only items strictly after the one this cursor came with' })),
}

export const AuditPage = PageOf('auditLog', AuditEntry)

export type AuditExportLine =
  | { type: 'chain'; workspaceId: string; publicKey: string; fromSequence: number; newestSequence: number }
  | { type: 'entry'; entry: AuditEntry }
  | ({ type: 'checkpoint' } & AuditCheckpoint)

/** Everything of an entry that was there before it was signed. */
export type UnsealedEntry = Omit<AuditEntry, 'hash' | 'signature'>

/** The text of everything in an entry of this workspace; the SHA-256 of its UTF-8 is the entry's digest. */
export function canonicalEntry(workspaceId: string, entry: UnsealedEntry): string {
  const { id, sequence, timestamp, event, status, actor, target, ip, requestId, metadata, previousHash } = entry
  const who = [actor.type, actor.id ?? null, actor.email ?? null]
  const rest = [target ?? null, ip ?? null, requestId ?? null, metadata, previousHash]
  return JSON.stringify(['audit-entry-1', workspaceId, sequence, id, timestamp, event, status, ...who, ...rest])
}

/** The text that the signature of an entry is over. */
export const entryStatement = (workspaceId: string, { sequence, digest }: { sequence: number; digest: string }): string =>
  JSON.stringify(['audit-signature-1', workspaceId, sequence, digest])

/** The text whose SHA-256 is the hash of an entry: so it covers the signature as well. */
export const sealedEntry = (digest: string, signature: string): string => `${digest} ${signature}`

/** The text that the signature of a chain's newest entry, as the newest, is over. */
export const headStatement = (workspaceId: string, { sequence, hash, timestamp }: Omit<AuditHead, 'signature'>): string =>
  JSON.stringify(['audit-head-1', workspaceId, sequence, hash, timestamp])
