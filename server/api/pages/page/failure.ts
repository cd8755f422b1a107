import { AppError, errorStatus } from '../../../../shared/error.ts'
import { html } from '../markup/html.ts'
import { documentOf, pageHeaders } from './document.ts'
import { type Shown, show } from './reply.ts'

export function failurePage(error: unknown, requestId: string): Shown {
  const known = error instanceof AppError && error.code !== 'internal' ? error : undefined
  const message = known?.message ?? `Something went wrong on the server. Tell the operator the request id ${requestId}.`
  const wait = known?.retryAfterSeconds
  return show({
    title: known === undefined ? 'Something went wrong' : 'That did not work',
    status: errorStatus[known?.code ?? 'internal'],
    body: html`<div class="card"><p role="alert">${message}</p><p><a href="/account">Go to your account</a></p></div>`,
    headers: wait === undefined ? {} : { 'Retry-After': String(wait) },
  })
}

/** Answers whoever opened a URL that is none of ours. `host` is the server's, for the head of the page. */
export function failureResponse(error: unknown, { requestId, host }: { requestId: string; host: string }): Response {
  const page = failurePage(error, requestId)
  return new Response(documentOf(page, host), { status: page.status, headers: { ...pageHeaders, Vary: 'Accept', ...page.headers } })
}
