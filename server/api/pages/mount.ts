import type { Elysia } from 'elysia'
import { AppError } from '../../../shared/error.ts'
import { requireOwnOrigin } from '../../http/access/origin.ts'
import { respondAs } from '../../http/answers/respond.ts'
import { readForm } from '../../http/input/form-body.ts'
import { BODY_DEADLINE_MS } from '../../http/input/json-body.ts'
import type { Dispatch } from '../../http/mount/dispatch.ts'
import { reportDenied } from '../../http/requests/audit-context.ts'
import type { HttpParts } from '../../http/requests/parts.ts'
import { openRequest, type RequestContext, uncredited } from '../../http/requests/request-context.ts'
import { describeError } from '../../platform/server-log.ts'
import type { ApiContext } from '../context.ts'
import { guideStyle, guideStylePath } from './guide/style.ts'
import { documentOf, pageHeaders } from './page/document.ts'
import { failurePage } from './page/failure.ts'
import { type PageReply, redirect } from './page/reply.ts'
import { openPageRequest, type Page } from './page/request.ts'
import { style, stylePath } from './page/style.ts'
import { pages } from './pages.ts'

const FORM_LIMITS = { maxBytes: 64 * 1024, deadlineMs: BODY_DEADLINE_MS }
const YEAR_SECONDS = 365 * 24 * 3600

const styleSheets = { [stylePath]: style, [guideStylePath]: guideStyle }

interface PageParts {
  dispatch: Dispatch
  context: ApiContext
}

/** Mounts the pages for people. They work without scripts, and hold nothing of other hosts. */
export function mountPages(elysia: Elysia, parts: HttpParts, { dispatch, context }: PageParts): void {
  const route = (method: string, path: string, answer: (received: RequestContext) => Promise<Response>) =>
    void elysia.route(method, path, ({ request }) => answer(openRequest(request, parts)), { parse: 'none' })
  for (const [path, { get, post }] of Object.entries(pages)) {
    if (get !== undefined) {
      for (const method of ['GET', 'HEAD'])
        route(method, path, (received) => serve(received, { dispatch, context }, { page: get, read: nothing }))
    }
    if (post !== undefined) route('POST', path, (received) => serve(received, { dispatch, context }, { page: post, read: readOwnForm }))
  }
  for (const method of ['GET', 'HEAD']) {
    route(method, '/', async (received) => respondAs(received.head(), responseOf(redirect('/account'), '')))
    for (const [path, text] of Object.entries(styleSheets))
      route(method, path, async (received) => respondAs(received.head(), styleSheet(text)))
  }
}

type ReadFields = (received: RequestContext) => Promise<Record<string, string>>

const nothing: ReadFields = async () => ({})

const readOwnForm: ReadFields = ({ request, parts }) => {
  // Refused before the body is read: another site may make a browser send anything, a login too.
  requireOwnOrigin(request.headers, parts.ownOrigins())
  return readForm(request, FORM_LIMITS)
}

interface Method {
  page: Page
  read: ReadFields
}

async function serve(received: RequestContext, parts: PageParts, method: Method): Promise<Response> {
  const host = new URL(parts.context.publicUrl).host
  const reply = await answer(received, parts, method).catch((error: unknown) => {
    reportDenied({ operationId: 'page', audit: received.parts.audit, facts: {}, isAdmitted: false }, received, error)
    if (!(error instanceof AppError)) received.parts.log.error('page failed', { requestId: received.requestId, ...describeError(error) })
    return failurePage(error, received.requestId)
  })
  return respondAs(received.head(), responseOf(reply, host))
}

async function answer(received: RequestContext, parts: PageParts, { page, read }: Method): Promise<PageReply> {
  received.count(uncredited)
  return page(openPageRequest(received, await read(received), parts))
}

function responseOf(reply: PageReply, host: string): Response {
  if (reply.kind === 'page')
    return new Response(documentOf(reply, host), { status: reply.status, headers: { ...pageHeaders, ...reply.headers } })
  const headers = new Headers({ Location: reply.to, 'Referrer-Policy': pageHeaders['Referrer-Policy'] })
  for (const cookie of reply.cookies) headers.append('Set-Cookie', cookie)
  return new Response(null, { status: 303, headers })
}

const styleSheet = (text: string): Response =>
  new Response(text, {
    headers: { 'Content-Type': 'text/css; charset=utf-8', 'Cache-Control': `public, max-age=${YEAR_SECONDS}, immutable` },
  })
