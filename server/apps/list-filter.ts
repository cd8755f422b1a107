import type { IdPage } from '../http/answers/page.ts'
import type { Bindings } from '../platform/db/table.ts'

interface CommonQuery extends IdPage {
  name?: readonly string[]
  createdAfter?: string
  createdBefore?: string
  updatedAfter?: string
  updatedBefore?: string
}

/** What every list of named things can be narrowed by, as a condition on columns of those names; its values come of `commonBindings`. */
export const commonFilter = `($names IS NULL OR name IN (SELECT value FROM json_each($names)))
  AND created_at > $createdAfter AND created_at < $createdBefore
  AND updated_at > $updatedAfter AND updated_at < $updatedBefore
  AND ($beforeId IS NULL OR id < $beforeId)`

export const commonBindings = (query: CommonQuery): Bindings => ({
  names: listOrNull(query.name),
  createdAfter: time(query.createdAfter) ?? -1,
  createdBefore: time(query.createdBefore) ?? Number.MAX_SAFE_INTEGER,
  updatedAfter: time(query.updatedAfter) ?? -1,
  updatedBefore: time(query.updatedBefore) ?? Number.MAX_SAFE_INTEGER,
  beforeId: query.beforeId ?? null,
  limit: query.limit,
})

/** A list for `json_each`; null where nothing is asked for. */
export const listOrNull = (values: Iterable<string> | undefined): string | null =>
  values === undefined ? null : JSON.stringify([...values])

const time = (text: string | undefined): number | undefined => (text === undefined ? undefined : Date.parse(text))
