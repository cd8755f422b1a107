import type { AuthProvider, Identity } from '../../../../shared/oauth.ts'
import { hidden } from '../markup/form.ts'
import { type Html, html } from '../markup/html.ts'
import type { PageRequest } from '../page/request.ts'

export async function identityList({ ask }: PageRequest): Promise<Html> {
  const [providers, identities] = [await ask('listAuthProviders'), await ask('listIdentities', { query: { limit: '100' } })]
  const linked = identities.isDone ? identities.body.map(({ identity }) => identity) : []
  const offered = providers.isDone ? providers.body.filter(({ id }) => !linked.some(({ provider }) => provider === id)) : []
  if (linked.length + offered.length === 0) return html``
  const names = new Map((providers.isDone ? providers.body : []).map(({ id, name }) => [id, name]))
  return html`<section class="card" aria-labelledby="identities"><h2 id="identities">Linked accounts</h2>
<ul class="list">${linked.map((identity) => linkedRow(identity, names.get(identity.provider) ?? identity.provider))}${offered.map(offeredRow)}</ul>
</section>`
}

const linkedRow = (
  { provider, email }: Identity,
  name: string,
): Html => html`<li><span>${name}${email !== undefined && html` <span class="quiet">${email}</span>`}</span>
<form method="post" action="/account/identities">${hidden('provider', provider)}<button class="grave" aria-label="Unlink ${name}">Unlink</button></form></li>`

const offeredRow = ({ name, authorizeUrl }: AuthProvider): Html =>
  html`<li><span>${name}</span><a class="button second" href="${authorizeUrl}?link=true&returnTo=/account" aria-label="Link ${name}">Link</a></li>`
