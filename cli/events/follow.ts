import type { Event, WorkspaceEventQuery } from '../../shared/event.ts'
import type { Client } from '../api/client.ts'
import { MAX_PAGE_ITEMS, pages } from '../api/pages.ts'
import { GIVE_UP_MS } from '../api/poll.ts'
import { isPassing } from '../base/error.ts'
import { present } from '../base/present.ts'
import { sleep } from '../base/sleep.ts'

const POLL_MS = 1000

export type EventFilter = Omit<WorkspaceEventQuery, 'direction' | 'limit' | 'cursor'>

interface Wrapped {
  event: Event
  cursor: string
}

export const lastEvents = async (client: Client, filter: EventFilter, count: number): Promise<Wrapped[]> =>
  (await Array.fromAsync(pages((page) => client.call('listWorkspaceEvents', { query: { ...filter, ...page } }), count))).reverse()

interface Following {
  client: Client
  filter: EventFilter
  cursor: string | undefined
  onEvent: (event: Event) => void
  isEndless: boolean
  onLost: () => void
  signal: AbortSignal
}

/**
 * Tells events from a cursor on, oldest first. The server gives each once after a cursor, however often it is asked, and through restarts,
 * so none is missed and none comes twice. @throws CliError when the server refuses, or stays away for `GIVE_UP_MS`.
 */
export async function tellEvents({ client, filter, onEvent, isEndless, onLost, signal, ...from }: Following): Promise<void> {
  let { cursor } = from
  const ask = () =>
    client.call('listWorkspaceEvents', { query: { ...filter, ...present({ cursor }), direction: 'forward', limit: MAX_PAGE_ITEMS } })
  const askAgain = isEndless ? patiently(ask, onLost) : ask
  while (!signal.aborted) {
    const page = await askAgain()
    for (const { event } of page) onEvent(event)
    cursor = page.at(-1)?.cursor ?? cursor
    if (page.length === MAX_PAGE_ITEMS) continue
    if (!isEndless) return
    await sleep(POLL_MS, signal)
  }
}

function patiently(ask: () => Promise<Wrapped[]>, onLost: () => void): () => Promise<Wrapped[]> {
  let answeredAt = performance.now()
  let isLost = false
  return async () => {
    try {
      const page = await ask()
      answeredAt = performance.now()
      isLost = false
      return page
    } catch (error) {
      if (!isPassing(error) || performance.now() - answeredAt > GIVE_UP_MS) throw error
      if (!isLost) onLost()
      isLost = true
      return []
    }
  }
}
