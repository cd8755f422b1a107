import { oauthProblems } from '../../../../shared/oauth.ts'
import { findMembership } from '../../../identity/memberships/store.ts'
import { done, problemSummary } from '../markup/form.ts'
import { type Html, html } from '../markup/html.ts'
import { problemIn, type Sentences, sentenceIn } from '../markup/sentence.ts'
import { show } from '../page/reply.ts'
import type { PageRequest } from '../page/request.ts'
import { identityList } from './identities.ts'
import { forViewer } from './section.ts'

const notices: Sentences = {
  joined: 'You have joined the workspace.',
  password_changed: 'The password is changed. All other sessions have ended.',
  two_factor_off: 'Two-factor sign-in is off.',
  unlinked: 'The account of the provider is unlinked.',
}
const problems: Sentences = {
  ...oauthProblems,
  not_unlinked: 'It was not unlinked: it is the only way to sign in to your account, or it is gone already. Set a password first.',
}

export const showAccount = forViewer(async (request, viewer) => {
  const { searchParams } = request.url
  return show({
    title: 'Your account',
    viewer: viewer.email,
    width: 'wide',
    body: html`${done(sentenceIn(notices, searchParams.get('notice')))}
${problemSummary(problemIn(problems, searchParams.get('error')))}
<section class="card" aria-labelledby="profile"><h2 id="profile">Profile</h2>
<dl><dt>Name</dt><dd>${viewer.name}</dd><dt>E-mail</dt><dd>${viewer.email}</dd></dl></section>
<section class="card" aria-labelledby="security"><h2 id="security">Security</h2>
<ul class="list">
<li><span>Password</span><a class="button second" href="/account/password" aria-label="Change the password">Change</a></li>
<li><span>Two-factor sign-in is <strong>${viewer.hasTwoFactor ? 'on' : 'off'}</strong></span>
<a class="button second" href="/account/two-factor" aria-label="${viewer.hasTwoFactor ? 'Manage' : 'Set up'} two-factor sign-in">${
      viewer.hasTwoFactor ? 'Manage' : 'Set up'
    }</a></li>
<li><span>Sessions: where you are logged in</span><a class="button second" href="/account/sessions" aria-label="Show sessions">Show</a></li>
</ul></section>
${await identityList(request)}
${await workspaceList(request, viewer.id)}`,
  })
})

const MOST_WORKSPACES = '100'

async function workspaceList({ ask, context: { db } }: PageRequest, userId: string): Promise<Html> {
  const owners = await ask('listOwners', { query: { limit: MOST_WORKSPACES } })
  const listed = owners.isDone ? owners.body : []
  const rows = listed.map(
    ({ owner: { id, name } }) => html`<li><span>${name}</span><span class="quiet">${findMembership(db, userId, id)?.role}</span></li>`,
  )
  return html`<section class="card" aria-labelledby="workspaces"><h2 id="workspaces">Workspaces</h2>
${rows.length > 0 ? html`<ul class="list">${rows}</ul>` : html`<p>You are in no workspace. Ask an administrator for an invitation.</p>`}</section>`
}
