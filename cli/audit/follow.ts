import type { AuditEntry } from '../../shared/audit.ts'
import type { Client } from '../api/client.ts'
import { MAX_PAGE_ITEMS } from '../api/pages.ts'
import { GIVE_UP_MS } from '../api/poll.ts'
import { isPassing } from '../base/error.ts'
import { sleep } from '../base/sleep.ts'

const POLL_MS = 1000

export interface Follow {
  client: Client
  filters: { event?: string[]; actor?: string[] }
  onEntry: (entry: AuditEntry) => void
  signal: AbortSignal
}

/** Gives entries as they are written until `signal` aborts, through restarts of the server: each once, and none is missed. */
export async function followAudit(options: Follow): Promise<void> {
  const { client, onEntry, signal } = options
  const [newest] = await client.call('listAuditLogs', { query: { limit: 1 } })
  let cursor = newest?.cursor
  let answeredAt = performance.now()
  while (!signal.aborted) {
    const page = await pageAfter(options, cursor, answeredAt)
    if (page !== undefined) answeredAt = performance.now()
    for (const { auditLog } of page ?? []) onEntry(auditLog)
    cursor = page?.at(-1)?.cursor ?? cursor
    if (page?.length !== MAX_PAGE_ITEMS) await sleep(POLL_MS, signal)
  }
}

/** Undefined while the server is away, unless that lasts too long. */
async function pageAfter({ client, filters, signal }: Follow, cursor: string | undefined, answeredAt: number) {
  try {
    const query = { ...filters, direction: 'forward' as const, limit: MAX_PAGE_ITEMS, ...(cursor !== undefined && { cursor }) }
    return await client.call('listAuditLogs', { query })
  } catch (error) {
    if (signal.aborted || (isPassing(error) && performance.now() - answeredAt < GIVE_UP_MS)) return undefined
    throw error
  }
}
