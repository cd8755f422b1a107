import type { Database } from 'bun:sqlite'
import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { proofOf } from '../../../../cli/audit/proof.ts'
import { type AuditLog, openAuditLog } from '../../../../server/identity/audit-chain/log.ts'
import { type AuditSigner, openAuditSigner } from '../../../../server/identity/audit-chain/signer.ts'
import { entriesFrom, newestSequence, readHead } from '../../../../server/identity/audit-chain/store.ts'
import { inOneChange } from '../../../../server/platform/db/change.ts'
import { migrateDatabase } from '../../../../server/platform/db/migrate.ts'
import { openDatabase } from '../../../../server/platform/db/open.ts'
import { newId } from '../../../../server/platform/id.ts'
import { createServerLog } from '../../../../server/platform/server-log.ts'
import { type AuditVerdict, createChainVerifier } from '../../../../shared/audit-verifier.ts'

/** A real database with chains of its own, and nothing else of a server. */
export interface LogWorld {
  db: Database
  signer: AuditSigner
  audit: AuditLog
  workspaceId: string
  /** Writes this many entries of different kinds. */
  write(count: number, workspaceId?: string): void
  /** Removes the triggers that guard against mistakes, as whoever writes the file can. */
  unguard(): void
  verify(workspaceId?: string): AuditVerdict
  close(): void
}

export async function openLogWorld(now: () => number = Date.now): Promise<LogWorld> {
  const folder = await mkdtemp(join(tmpdir(), 'audit-'))
  const db = openDatabase(join(folder, 'control.db'))
  migrateDatabase(db)
  const signer = openAuditSigner(join(folder, 'audit.key'))
  const audit = openAuditLog({ db, signer, log: createServerLog(() => {}), now })
  const workspaceId = newId('workspace')
  return {
    db,
    signer,
    audit,
    workspaceId,
    write(count, id = workspaceId) {
      inOneChange(db, () => {
        for (let index = 0; index < count; index++) audit.append([id], entryNumber(index))
      })
    },
    unguard() {
      db.run('DROP TRIGGER IF EXISTS audit_log_stays')
      db.run('DROP TRIGGER IF EXISTS audit_log_is_final')
    },
    verify(id = workspaceId) {
      const options = { ...proofOf(audit.publicKey), workspaceId: id, fromSequence: 1, newestSequence: newestSequence(db, id) }
      const verifier = createChainVerifier(options)
      for (const entry of entriesFrom(db, id, { from: 0, limit: 1_000_000 })) verifier.add(entry)
      return verifier.end(readHead(db, id))
    },
    close() {
      db.close()
      rmSync(folder, { recursive: true })
    },
  }
}

const actors = [
  { type: 'user', id: 'usr-00000000000000000001', email: 'ada@example.com' },
  { type: 'rest_api', id: 'key-00000000000000000001' },
  { type: 'system' },
] as const

const entryNumber = (index: number) => ({
  event: ['service.updated', 'env_vars.replaced', 'access.denied'][index % 3] ?? '',
  status: index % 3 === 2 ? ('error' as const) : ('success' as const),
  actor: actors[index % actors.length] ?? actors[0],
  ...(index % 2 === 0 && { target: `srv-${index}`, ip: '192.0.2.1', requestId: `request-${index}` }),
  metadata: { operation: 'updateService', changes: { name: { before: `a-${index}`, after: `b-${index} "ä" \u2028` } } },
})
