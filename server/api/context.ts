import type { InsightContext } from '../insight/context.ts'

/** What the routes of all groups are given together. */
export type ApiContext = InsightContext
