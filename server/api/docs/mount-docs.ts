import type { Elysia } from 'elysia'
import stylePath from 'swagger-ui-dist/swagger-ui.css' with { type: 'file' }
import bundlePath from 'swagger-ui-dist/swagger-ui-bundle.js' with { type: 'file' }
import { respondAs, respondError } from '../../http/answers/respond.ts'
import type { OperationTable } from '../../http/mount/mount-all.ts'
import type { HttpParts } from '../../http/requests/parts.ts'
import { openRequest, uncredited } from '../../http/requests/request-context.ts'
import { buildOpenApiDocument } from './document.ts'
import { docsPage, docsPolicy, docsScript } from './page.ts'

type Body = string | Blob
interface Served {
  type: string
  body(): Body | Promise<Body>
  isFixed?: true
}

const SCRIPT = 'text/javascript; charset=utf-8'
const FIXED_SECONDS = 3600

export function mountDocs(elysia: Elysia, parts: HttpParts, { table, version }: { table: OperationTable; version: string }): void {
  let document: Promise<string> | undefined
  const served: Record<string, Served> = {
    '/docs': { type: 'text/html; charset=utf-8', body: () => docsPage },
    '/docs/start.js': { type: SCRIPT, body: () => docsScript },
    '/docs/swagger-ui-bundle.js': { type: SCRIPT, body: () => Bun.file(bundlePath), isFixed: true },
    '/docs/swagger-ui.css': { type: 'text/css; charset=utf-8', body: () => Bun.file(stylePath), isFixed: true },
    '/docs/json': {
      type: 'application/json; charset=utf-8',
      body: () => {
        document ??= buildOpenApiDocument(table, version)
        return document
      },
    },
  }
  for (const [path, file] of Object.entries(served)) {
    elysia.route('GET', path, ({ request }) => serve(request, parts, file), { parse: 'none' })
  }
}

async function serve(request: Request, parts: HttpParts, { type, body, isFixed }: Served): Promise<Response> {
  const received = openRequest(request, parts)
  try {
    received.count(uncredited)
    const headers: Record<string, string> = { 'Content-Type': type, 'Content-Security-Policy': docsPolicy }
    if (isFixed) headers['Cache-Control'] = `public, max-age=${FIXED_SECONDS}`
    return respondAs(received.head(), new Response(await body(), { headers }))
  } catch (error) {
    return respondError(received.head(), error, parts.log)
  }
}
