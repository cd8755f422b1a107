import type { Database } from 'bun:sqlite'

/** What another slice keeps for a service, and lets go of when the service is deleted. */
export interface ServiceBelongings {
  /** Writes into the transaction of the deletion, after which the service is gone for every caller. */
  release(context: { readonly db: Database; now(): number }, service: { id: string; workspaceId: string }): void
}
