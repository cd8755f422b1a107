import type { Log, LogQuery } from '../../shared/log.ts'
import type { Client } from '../api/client.ts'
import { MAX_PAGE_ITEMS } from '../api/pages.ts'

type Filters = Omit<LogQuery, 'direction' | 'limit'>

/** The newest lines that are wanted, oldest first. */
export async function lastLogs(
  client: Client,
  filters: Filters,
  { count, isWanted }: { count: number; isWanted(log: Log): boolean },
): Promise<Log[]> {
  const newest: Log[] = []
  let query: LogQuery = { ...filters, direction: 'backward' }
  let areAllWanted = true
  while (newest.length < count) {
    const limit: number = areAllWanted ? Math.min(MAX_PAGE_ITEMS, count - newest.length) : MAX_PAGE_ITEMS
    const page = await client.call('listLogs', { query: { ...query, limit } })
    const wanted = page.logs.filter(isWanted)
    newest.push(...wanted)
    // Thousands may stand between two that are wanted.
    areAllWanted &&= wanted.length === page.logs.length
    if (!page.hasMore) break
    query = { ...query, startTime: page.nextStartTime, endTime: page.nextEndTime }
  }
  return newest.slice(0, count).reverse()
}

/** Every line from `startTime` on, oldest first, as pages come. */
export async function* logsSince(client: Client, filters: Filters & { startTime: string }): AsyncGenerator<Log> {
  let query: LogQuery = { ...filters, direction: 'forward', limit: MAX_PAGE_ITEMS }
  for (;;) {
    const page = await client.call('listLogs', { query })
    yield* page.logs
    if (!page.hasMore) return
    query = { ...query, startTime: page.nextStartTime, endTime: page.nextEndTime }
  }
}
