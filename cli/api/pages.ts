import { pageItems } from '../../shared/schema.ts'

export const MAX_PAGE_ITEMS = pageItems.most

interface PageQuery {
  limit: number
  cursor?: string
}

/** Walks the cursors of a list until it is empty, or `maxItems` have come. */
export async function* pages<T extends { cursor: string }>(
  fetchPage: (query: PageQuery) => Promise<T[]>,
  maxItems = Number.POSITIVE_INFINITY,
): AsyncGenerator<T> {
  let left = maxItems
  let cursor: string | undefined
  while (left > 0) {
    const limit = Math.min(MAX_PAGE_ITEMS, left)
    const page = await fetchPage({ limit, ...(cursor === undefined ? {} : { cursor }) })
    yield* page.slice(0, left)
    left -= page.length
    cursor = page.at(-1)?.cursor
    if (page.length < limit || cursor === undefined) return
  }
}

export const allPages = <T extends { cursor: string }>(fetchPage: (query: PageQuery) => Promise<T[]>, maxItems?: number): Promise<T[]> =>
  Array.fromAsync(pages(fetchPage, maxItems))
