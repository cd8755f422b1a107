import type { ServiceBelongings } from '../../apps/belongings.ts'
import { deleteDomainsOf } from '../../edge/domains/store.ts'
import { dropFromScopes } from '../../identity/scopes/store.ts'

/** Each slice that keeps something for services stands here. */
export const serviceBelongings: readonly ServiceBelongings[] = [
  { release: ({ db }, { id }) => deleteDomainsOf(db, id) },
  { release: ({ db }, service) => dropFromScopes(db, service) },
]
