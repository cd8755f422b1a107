import type { Database } from 'bun:sqlite'
import {
  type AuditEntry,
  type AuditHead,
  canonicalEntry,
  entryStatement,
  genesisHash,
  headStatement,
  sealedEntry,
} from '../../../shared/audit.ts'
import { newId } from '../../platform/id.ts'
import type { AuditSigner } from './signer.ts'

export interface NewEntry {
  event: string
  status: 'success' | 'error'
  actor: { type: 'user' | 'rest_api' | 'system'; id?: string; email?: string }
  target?: string
  ip?: string
  requestId?: string
  metadata: Record<string, unknown>
}

export interface ChainWriter {
  db: Database
  signer: AuditSigner
  now(): number
}

interface Last {
  seq: number
  hash: string
  createdAt: number
}

/** Adds an entry to a chain and signs it, in the transaction of what it tells of: one connection writes, so places never clash. */
export function appendEntry({ db, signer, now }: ChainWriter, workspaceId: string, wanted: NewEntry): void {
  const last = db
    .query<Last, [string]>('SELECT seq, hash, created_at AS createdAt FROM audit_log WHERE workspace_id = ? ORDER BY seq DESC LIMIT 1')
    .get(workspaceId)
  // A time is never earlier than the one before, whatever the clock does: times can be looked up like places.
  const at = Math.max(now(), last?.createdAt ?? 0)
  const timestamp = new Date(at).toISOString()
  const place = { id: newId('auditEntry', at), sequence: (last?.seq ?? 0) + 1, timestamp, previousHash: last?.hash ?? genesisHash }
  const entry = { ...storable(wanted), ...place }
  const digest = hashText(canonicalEntry(workspaceId, entry))
  const signature = signer.sign(entryStatement(workspaceId, { sequence: place.sequence, digest }))
  const hash = hashText(sealedEntry(digest, signature))
  insertEntry(db, { workspaceId, at, entry: { ...entry, hash, signature } })
  const head = { sequence: place.sequence, hash, timestamp }
  replaceHead(db, { workspaceId, at, head: { ...head, signature: signer.sign(headStatement(workspaceId, head)) } })
}

export const hashText = (text: string): string => new Bun.CryptoHasher('sha256').update(text).digest('hex')

/** What comes out of the database is to be what went in: SQLite keeps no half characters, and cuts a text at a NUL. */
function storable({ metadata, ...entry }: NewEntry): NewEntry {
  const { actor, target, ip, requestId, ...rest } = entry
  const clean = <K extends string>(fields: { [key in K]?: string | undefined }) =>
    Object.fromEntries(
      Object.entries<string | undefined>(fields).flatMap(([key, value]) => (value === undefined ? [] : [[key, cleaned(value)]])),
    )
  return {
    ...rest,
    actor: { type: actor.type, ...clean({ id: actor.id, email: actor.email }) },
    ...clean({ target, ip, requestId }),
    metadata: JSON.parse(JSON.stringify(metadata)) as Record<string, unknown>,
  }
}

const cleaned = (text: string): string => text.toWellFormed().replaceAll('\0', '\ufffd')

function insertEntry(db: Database, { workspaceId, at, entry }: { workspaceId: string; at: number; entry: AuditEntry }): void {
  const { sequence, id, event, status, actor, target, ip, requestId, metadata, previousHash, hash, signature } = entry
  db.query(
    `INSERT INTO audit_log (workspace_id, seq, id, created_at, event, status, actor_type, actor_id, actor_email, target, ip, request_id,
       metadata, previous_hash, hash, signature)
     VALUES ($workspaceId, $sequence, $id, $at, $event, $status, $actorType, $actorId, $actorEmail, $target, $ip, $requestId,
       $metadata, $previousHash, $hash, $signature)`,
  ).run({
    ...{ workspaceId, sequence, id, at, event, status, previousHash, hash, signature },
    actorType: actor.type,
    actorId: actor.id ?? null,
    actorEmail: actor.email ?? null,
    target: target ?? null,
    ip: ip ?? null,
    requestId: requestId ?? null,
    metadata: JSON.stringify(metadata),
  })
}

function replaceHead(db: Database, { workspaceId, at, head }: { workspaceId: string; at: number; head: AuditHead }): void {
  db.query(
    `INSERT INTO audit_heads (workspace_id, seq, hash, created_at, signature) VALUES ($workspaceId, $sequence, $hash, $at, $signature)
     ON CONFLICT (workspace_id) DO UPDATE SET seq = excluded.seq, hash = excluded.hash, created_at = excluded.created_at,
       signature = excluded.signature`,
  ).run({ workspaceId, sequence: head.sequence, hash: head.hash, at, signature: head.signature })
}
