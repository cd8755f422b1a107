import { type OperationId, operationOf } from '../../../shared/operations/all.ts'
import { type PathIds, requestOf } from '../../conformance/requests.ts'
import type { CallOptions } from '../../support/client.ts'
import { expected } from './expected.ts'
import type { Things } from './things.ts'

/** Runs of a cron job are named by its service's id. */
const isCron = (path: string): boolean => path.startsWith('/v1/cron-jobs/')

/** Names of everything that a request of this operation names, in its path or beside it. */
export function namedBy(id: OperationId): string[] {
  const { path } = operationOf(id)
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name)
  return [...inPath, ...(expected[id].uses ?? [])]
}

/** Whether the request is about one service, so that a scope lets it through or not. */
export const isOfService = (id: OperationId): boolean =>
  !expected[id].isFilter && namedBy(id).some((name) => name !== 'ownerId' && !workspaceThings.has(name))
const workspaceThings: ReadonlySet<string> = new Set(['workspaceId', 'keyId', 'roleId', 'memberId', 'inviteId', 'sessionId', 'provider'])

/** Things for one request of the operation. */
export async function makeThings(id: OperationId, things: Things): Promise<PathIds> {
  if (!isCron(operationOf(id).path)) return await things.of(namedBy(id))
  const { cronJobId = '' } = await things.of(['cronJobId'])
  return { serviceId: cronJobId }
}

/** The request, on these things. */
export function requestOn(id: OperationId, ids: PathIds): { path: string; options: CallOptions } {
  const { path, options } = requestOf(id, ids)
  const { query, json } = expected[id]
  return {
    path: query === undefined ? path : `${path.split('?')[0]}${query(ids)}`,
    options: json === undefined ? options : { ...options, json: json(ids) },
  }
}
