import { Elysia } from 'elysia'
import type { Operation } from '../../../shared/operation.ts'
import { permissions } from '../../../shared/permission.ts'
import type { AnyHandler } from '../handlers/call.ts'
import { respondFailure } from '../requests/fail.ts'
import type { HttpParts } from '../requests/parts.ts'
import { openRequest, uncredited } from '../requests/request-context.ts'
import { createDispatch, type Dispatch } from './dispatch.ts'
import { mountOperation, type Serve } from './mount.ts'
import { mountPreflights } from './preflights.ts'
import { createUnknownRoute } from './unknown-route.ts'

export type OperationTable = Readonly<Record<string, Operation>>

export interface Mounted {
  elysia: Elysia
  dispatch: Dispatch
}

/** @throws Error at once when the table and the handlers do not fit, or an operation does not say who may call it. */
export function mountAll<C>(
  table: OperationTable,
  handlers: Readonly<Record<string, AnyHandler<C>>>,
  { parts, context }: { parts: HttpParts; context: C },
): Mounted {
  checkComplete(table, handlers)
  const elysia = new Elysia({ normalize: false, handler: { standardHostname: false } })
  const unknownRoute = createUnknownRoute(table)
  // Before the routes: Elysia gives routes only the error hooks that came before them.
  elysia.onError(({ error, code, request }) => {
    const received = openRequest(request, parts)
    try {
      received.count(uncredited)
      throw code === 'NOT_FOUND' ? unknownRoute(request) : error
    } catch (shown) {
      return respondFailure(received, shown)
    }
  })
  const serving = new Map<string, Serve>()
  for (const [id, operation] of Object.entries(table)) {
    const handler = handlers[id]
    if (handler !== undefined) serving.set(id, mountOperation(elysia, parts, { id, operation, handler, context }))
  }
  if (parts.cors !== undefined) mountPreflights(elysia, parts, { cors: parts.cors, table })
  return { elysia, dispatch: createDispatch(table, serving) }
}

function checkComplete(table: OperationTable, handlers: Readonly<Record<string, unknown>>): void {
  const problems = [
    ...Object.keys(table).flatMap((id) => (id in handlers ? [] : [`operation ${id} has no handler`])),
    ...Object.keys(handlers).flatMap((id) => (id in table ? [] : [`handler ${id} has no operation`])),
    ...Object.entries(table).flatMap(([id, { access }]) => (isAccess(access) ? [] : [`operation ${id} does not say who may call it`])),
  ]
  if (problems.length > 0) throw new Error(`The routes do not fit the table of operations: ${problems.join('; ')}`)
}

const isAccess = (access: string | undefined): boolean =>
  access === 'public' || access === 'authenticated' || (access !== undefined && Object.hasOwn(permissions, access))
