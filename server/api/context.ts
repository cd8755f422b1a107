import type { InsightContext } from '../insight/context.ts'

export type ApiContext = InsightContext
