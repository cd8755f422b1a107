import type { Elysia } from 'elysia'
import type { Operation } from '../../../shared/operation.ts'
import type { CorsRules } from '../access/cors.ts'
import { respondError, respondJson } from '../answers/respond.ts'
import type { HttpParts } from '../requests/parts.ts'
import { openRequest, uncredited } from '../requests/request-context.ts'

interface Preflights {
  cors: CorsRules
  table: Readonly<Record<string, Operation>>
}

export function mountPreflights(elysia: Elysia, parts: HttpParts, { cors, table }: Preflights): void {
  const methods = new Map<string, Operation['method'][]>()
  for (const { path, method, webSocket } of Object.values(table)) {
    if (!webSocket) methods.set(path, [...(methods.get(path) ?? []), method])
  }
  for (const [path, offered] of methods) {
    elysia.route('OPTIONS', path, ({ request }) => answerPreflight(request, parts, () => cors.preflight(request, offered)), {
      parse: 'none',
    })
  }
}

function answerPreflight(request: Request, parts: HttpParts, headersOf: () => Record<string, string>): Response {
  const received = openRequest(request, parts)
  try {
    received.count(uncredited)
    return respondJson(received.head(), 204, undefined, headersOf())
  } catch (error) {
    return respondError(received.head(), error, parts.log)
  }
}
