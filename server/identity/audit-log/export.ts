import { setImmediate as nextTurn } from 'node:timers/promises'
import type { AuditExportLine } from '../../../shared/audit.ts'
import { entriesFrom, newestSequence, readHead } from '../audit-chain/store.ts'
import type { IdentityContext } from '../context.ts'

/** Entries read at once: a few milliseconds, in which nobody else is answered. */
const BATCH_ENTRIES = 250

/** The chain of a workspace as lines of JSON, ending with its signed end. Between two batches everybody else has a turn. */
export function exportChain(
  { db, audit }: Pick<IdentityContext, 'db' | 'audit'>,
  workspaceId: string,
  fromSequence: number,
): ReadableStream<Uint8Array> {
  let next = fromSequence
  let isBegun = false
  const bytes = (lines: readonly AuditExportLine[]) => new TextEncoder().encode(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        await nextTurn()
        if (!isBegun) {
          isBegun = true
          controller.enqueue(
            bytes([
              { type: 'chain', workspaceId, publicKey: audit.publicKey, fromSequence, newestSequence: newestSequence(db, workspaceId) },
            ]),
          )
        }
        const entries = entriesFrom(db, workspaceId, { from: next, limit: BATCH_ENTRIES })
        next = (entries.at(-1)?.sequence ?? next) + 1
        if (entries.length > 0) return controller.enqueue(bytes(entries.map((entry) => ({ type: 'entry', entry }))))
        // Nothing was awaited since the read that found no more: it is the end of just these entries.
        controller.enqueue(bytes([{ type: 'checkpoint', ...checkpointOf({ db, audit }, workspaceId) }]))
        controller.close()
      },
    },
    { highWaterMark: 2 },
  )
}

export function checkpointOf({ db, audit }: Pick<IdentityContext, 'db' | 'audit'>, workspaceId: string) {
  const head = readHead(db, workspaceId)
  return { workspaceId, publicKey: audit.publicKey, ...(head !== undefined && { head }) }
}
