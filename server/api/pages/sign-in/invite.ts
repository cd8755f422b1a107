import { AppError, errorStatus } from '../../../../shared/error.ts'
import { invitePathOf } from '../../../../shared/invite-token.ts'
import { requireInvite } from '../../../identity/invites/join.ts'
import type { StoredInvite } from '../../../identity/invites/store.ts'
import { findFirstMembership, findWorkspace } from '../../../identity/memberships/store.ts'
import { findUserByEmail } from '../../../identity/users/store.ts'
import { newPasswordField, secondFactorField } from '../markup/fields.ts'
import { field, form, hidden, type Problem, problemSummary } from '../markup/form.ts'
import { type Html, html } from '../markup/html.ts'
import { type PageReply, redirect, show } from '../page/reply.ts'
import { type PageRequest, problemOf, viewerOf } from '../page/request.ts'
import { providerButtons } from './providers.ts'

interface InviteView {
  token: string
  problem?: Problem
  status?: number
  isCodeWanted?: boolean
}

export const showInvite = (request: PageRequest): Promise<PageReply> =>
  invitePage(request, { token: request.url.searchParams.get('token') ?? '' })

export async function acceptInvite(request: PageRequest): Promise<PageReply> {
  const { token = '', name, password, otp } = request.fields
  const given = Object.fromEntries(Object.entries({ name, password, otp }).filter(([, value]) => value !== undefined && value !== ''))
  const accepted = await request.ask('acceptTeamInvite', { body: { token, ...given } })
  if (accepted.isDone) return redirect('/account?notice=joined', accepted.cookies)
  const problem = problemOf(accepted)
  return invitePage(request, { token, problem, status: accepted.status, isCodeWanted: 'otp' in problem.fields })
}

async function invitePage(request: PageRequest, view: InviteView): Promise<PageReply> {
  const invite = findInvite(request, view.token)
  if (invite instanceof AppError) return unusablePage(request, invite)
  const viewer = viewerOf(request)
  const workspace = findWorkspace(request.context.db, invite.workspaceId)?.name ?? 'a workspace'
  return show({
    title: `Join ${workspace}`,
    status: view.status ?? 200,
    viewer: viewer?.email,
    body: html`<div class="card">
${problemSummary(view.problem)}
<p>You are invited to <strong>${workspace}</strong> with the role <strong>${invite.role}</strong>. The invitation is for <strong>${invite.email}</strong>.</p>
${viewer === undefined ? await signedOutForm(request, view, invite) : signedInForm(request, view, { invite, viewerId: viewer.id })}
</div>`,
  })
}

function findInvite({ context }: PageRequest, token: string): StoredInvite | AppError {
  try {
    return requireInvite(context, token)
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
}

const unusablePage = (request: PageRequest, { message, code }: AppError): PageReply =>
  show({
    title: 'This invitation cannot be used',
    status: errorStatus[code],
    viewer: viewerOf(request)?.email,
    body: html`<div class="card"><p role="alert">${message}</p><p><a href="/account">Go to your account</a></p></div>`,
  })

function signedInForm(
  { context }: PageRequest,
  { token }: InviteView,
  { invite, viewerId }: { invite: StoredInvite; viewerId: string },
): Html {
  if (findUserByEmail(context.db, invite.email)?.id === viewerId)
    return form({ action: '/invite', content: html`${hidden('token', token)}<button>Join</button>` })
  const content = html`${hidden('returnTo', invitePathOf(token))}<button>Log out and go on</button>`
  return html`<p>You are logged in with another address.</p>${form({ action: '/logout', content })}`
}

async function signedOutForm(request: PageRequest, view: InviteView, { email }: StoredInvite): Promise<Html> {
  const { db } = request.context
  const owner = findUserByEmail(db, email)
  if (owner !== undefined && findFirstMembership(db, owner.id) !== undefined)
    return html`<a class="button" href="/login?returnTo=${encodeURIComponent(invitePathOf(view.token))}">Log in to join</a>`
  return html`${form({ action: '/invite', content: owner === undefined ? newAccount(view, email) : oldAccount(view, email) })}
${await providerButtons(request, { inviteToken: view.token, returnTo: '/account' })}`
}

const newAccount = ({ token, problem }: InviteView, email: string): Html => html`${hidden('token', token)}
${knownEmail(email)}
${field({ name: 'name', label: 'Your name', autocomplete: 'name', maxLength: 100, isOptional: true, hasFocus: true }, problem)}
${newPasswordField({ name: 'password' }, problem)}
<button>Make an account and join</button>`

const oldAccount = ({ token, problem, isCodeWanted }: InviteView, email: string): Html => html`${hidden('token', token)}
<p>You have an account with this address. Its password is wanted.</p>
${knownEmail(email)}
${field({ name: 'password', label: 'Password', type: 'password', autocomplete: 'current-password', hasFocus: true }, problem)}
${isCodeWanted === true && secondFactorField({}, problem)}
<button>Join</button>`

/** Password managers file the password under this address. It is not sent: the invite says whose account it is. */
const knownEmail = (email: string): Html =>
  html`<div class="field"><label for="email">E-mail</label><input id="email" type="email" autocomplete="username" value="${email}" readonly></div>`
