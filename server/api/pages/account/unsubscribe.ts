import { done, form, hidden, problemSummary } from '../markup/form.ts'
import { type Content, html } from '../markup/html.ts'
import { type PageReply, type Shown, show } from '../page/reply.ts'
import { type PageRequest, problemOf, viewerOf } from '../page/request.ts'

/** A link alone ends nothing: mail programs open links to look at them. */
export function showUnsubscribe(request: PageRequest): PageReply {
  const content = html`<p>You get no more mail about what fails in this workspace. <code>cpctl account notifications on</code> brings it back.</p>
${hidden('token', request.url.searchParams.get('token') ?? '')}
<button>Send me no more mail</button>`
  return unsubscribePage(request, form({ action: '/unsubscribe', content }))
}

export async function unsubscribe(request: PageRequest): Promise<PageReply> {
  const outcome = await request.ask('unsubscribe', { params: { token: request.fields.token ?? '' } })
  if (outcome.isDone) return unsubscribePage(request, done('No more mail of this workspace is sent to you.'))
  return unsubscribePage(request, html`${problemSummary(problemOf(outcome))}`, outcome.status)
}

const unsubscribePage = (request: PageRequest, body: Content, status = 200): Shown =>
  show({ title: 'Notifications', status, viewer: viewerOf(request)?.email, body: html`<div class="card">${body}</div>` })
