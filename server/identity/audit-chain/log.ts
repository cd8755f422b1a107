import type { Database } from 'bun:sqlite'
import { inOneChange } from '../../platform/db/change.ts'
import { describeError, type ServerLog } from '../../platform/server-log.ts'
import { readSeeded } from '../memberships/seeded.ts'
import { appendEntry, type NewEntry } from './chain.ts'
import { masked } from './mask.ts'
import type { AuditSigner } from './signer.ts'
import { chainsThereAre } from './store.ts'

export interface SystemChange {
  event: string
  workspaceId?: string
  status?: NewEntry['status']
  target?: string
  metadata?: Record<string, unknown>
}

export interface AuditLog {
  /** Raw Ed25519, base64. */
  readonly publicKey: string
  /** Writes an entry into the chain of each workspace, or of the default one. Belongs in the change's transaction. */
  append(workspaceIds: readonly string[], entry: NewEntry): void
  /** Writes down what no request asked for. Belongs in the transaction of the change, where it has one. */
  system(change: SystemChange): void
  /** Reports what has happened outside of the database already: an entry that cannot be written goes to the server's log. */
  report(change: SystemChange): void
}

const MAX_METADATA_CHARS = 16_384

export function openAuditLog(parts: { db: Database; signer: AuditSigner; log: ServerLog; now(): number }): AuditLog {
  const { db, signer, log } = parts
  const append: AuditLog['append'] = (workspaceIds, entry) => {
    const bounded = { ...entry, metadata: withinBounds(entry.metadata) }
    const chains = workspaceIds.length > 0 ? new Set(workspaceIds) : [readSeeded(db)?.workspaceId].filter((id) => id !== undefined)
    inOneChange(db, () => {
      for (const workspaceId of chains) appendEntry(parts, workspaceId, bounded)
    })
  }
  const system: AuditLog['system'] = ({ event, workspaceId, status = 'success', target, metadata = {} }) =>
    append(workspaceId === undefined ? [] : [workspaceId], {
      event,
      status,
      actor: { type: 'system' },
      ...(target !== undefined && { target }),
      metadata: masked(metadata) as Record<string, unknown>,
    })
  // Who verifies sees from which entry on another key has signed; this entry says that it was no mistake of theirs.
  if (signer.isNew) for (const workspaceId of chainsThereAre(db)) system({ event: 'audit_log.key_replaced', workspaceId })
  return {
    publicKey: signer.publicKey,
    append,
    system,
    report(change) {
      try {
        system(change)
      } catch (error) {
        log.error('audit entry not written', { auditEvent: change.event, ...describeError(error) })
      }
    },
  }
}

function withinBounds(metadata: Record<string, unknown>): Record<string, unknown> {
  if (JSON.stringify(metadata).length <= MAX_METADATA_CHARS) return metadata
  const { operation } = metadata
  const names = Object.entries(metadata).map(([name, value]) => [
    name,
    typeof value === 'object' ? Object.keys(value ?? {}).slice(0, 200) : null,
  ])
  return { ...(typeof operation === 'string' && { operation }), isCut: true, fields: Object.fromEntries(names) }
}
