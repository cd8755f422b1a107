import { respondAs, respondError } from '../answers/respond.ts'
import type { RequestContext } from './request-context.ts'

export function respondFailure(received: RequestContext, error: unknown): Response {
  const { request, requestId, parts } = received
  const answer = respondError(received.head(), error, parts.log)
  return isOpenedInBrowser(request) ? respondAs(received.head(), parts.errorPage(error, requestId)) : answer
}

/** Scripts of a page ask for JSON or anything, and programs bring a credential of their own. */
function isOpenedInBrowser({ method, headers }: Request): boolean {
  const isNavigation = (headers.get('sec-fetch-mode') ?? 'navigate') === 'navigate'
  const isForReading = method === 'GET' || method === 'HEAD'
  return isForReading && isNavigation && !headers.has('authorization') && headers.get('accept')?.includes('text/html') === true
}
