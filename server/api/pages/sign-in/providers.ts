import { type Html, html } from '../markup/html.ts'
import type { PageRequest } from '../page/request.ts'

export async function providerButtons(request: PageRequest, query: Readonly<Record<string, string>>): Promise<Html> {
  const listed = await request.ask('listAuthProviders')
  if (!listed.isDone || listed.body.length === 0) return html``
  const search = new URLSearchParams(query)
  return html`<div class="or">or</div>
<div class="stack">${listed.body.map(
    ({ name, authorizeUrl }) => html`<a class="button second" href="${authorizeUrl}?${search.toString()}">Continue with ${name}</a>`,
  )}</div>`
}
