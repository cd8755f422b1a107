import type { AppContext } from '../context.ts'
import type { ServerFailure } from '../datastores/kind.ts'
import { changeDatastore } from '../datastores/operations.ts'
import { followersOf, type StoredDatastore } from '../datastores/store.ts'
import { recordEvent } from '../events/store.ts'
import { ownOf } from './session.ts'
import { updatePostgres } from './store.ts'

/** Takes note that a server has come up with what its owner has set. Part of the transaction that says so. */
export function proveParameters(context: AppContext, { id }: StoredDatastore): void {
  const { parameterOverrides, provenParameters } = ownOf(context, { id })
  if (!Bun.deepEquals(parameterOverrides, provenParameters)) updatePostgres(context.db, id, { provenParameters: parameterOverrides })
}

/** Goes back to what its owner had set before, where a server does not come up with what was set last. Returns why it is down. */
export function revertParameters(context: AppContext, datastore: StoredDatastore, { why, isLasting }: ServerFailure): string {
  const { db, now } = context
  const { id, workspaceId, name } = datastore
  const { parameterOverrides: from, provenParameters: to } = ownOf(context, { id })
  const changed = changedNames(from, to)
  if (!isLasting || changed.length === 0) return why
  updatePostgres(db, id, { parameterOverrides: to })
  for (const one of [datastore, ...followersOf(db, id)]) changeDatastore(context, one, { change: {}, isFreshStart: true })
  const reason = `Its server does not come up with ${changed.map((one) => nameValue(one, from)).join(', ')}: taken back.`
  recordEvent(db, {
    owner: { id, workspaceId },
    now: now(),
    type: 'postgres_parameters_reverted',
    details: { name, parameters: changed, from, to, reason: `${reason} ${why}` },
  })
  return `${reason} ${why}`
}

type Parameters = Readonly<Record<string, string>>

/** Names of settings that are not as they were, in order. */
export const changedNames = (from: Parameters, to: Parameters): string[] =>
  [...new Set([...Object.keys(from), ...Object.keys(to)])].filter((name) => from[name] !== to[name]).toSorted()

const nameValue = (name: string, given: Parameters): string =>
  given[name] === undefined ? `${name} of the plan` : `${name} = ${given[name]}`
