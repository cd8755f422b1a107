import { newPasswordField } from '../markup/fields.ts'
import { done, field, form, hidden, type Problem, problemSummary } from '../markup/form.ts'
import { html } from '../markup/html.ts'
import { type PageReply, redirect, type Shown, show } from '../page/reply.ts'
import { type PageRequest, problemOf, viewerOf } from '../page/request.ts'

interface ResetView {
  problem?: Problem
  notice?: string
  status?: number
  email?: string
  viewer: string | undefined
}

export function showReset(request: PageRequest): PageReply {
  const token = request.url.searchParams.get('token') ?? ''
  const viewer = viewerOf(request)?.email
  return token === '' ? requestPage({ viewer }) : newPasswordPage(token, { viewer })
}

export async function resetPassword(request: PageRequest): Promise<PageReply> {
  const { token = '', password = '', email = '' } = request.fields
  const viewer = viewerOf(request)?.email
  if (token === '') {
    const requested = await request.ask('requestPasswordReset', { body: { email } })
    if (!requested.isDone) return requestPage({ viewer, email, problem: problemOf(requested), status: requested.status })
    return requestPage({ viewer, notice: requested.body.message })
  }
  const confirmed = await request.ask('confirmPasswordReset', { body: { token, password } })
  if (confirmed.isDone) return redirect('/login?notice=password_set', confirmed.cookies)
  const problem = problemOf(confirmed)
  const isOfLink = confirmed.error.code === 'not_found' || 'token' in problem.fields
  return isOfLink
    ? requestPage({ viewer, problem: { message: confirmed.error.message, fields: {} }, status: confirmed.status })
    : newPasswordPage(token, { viewer, problem, status: confirmed.status })
}

const backToLogin = html`<p class="quiet"><a href="/login">Back to the login</a></p>`

function requestPage({ problem, notice, status = 200, email = '', viewer }: ResetView): Shown {
  const content = html`<p>We send a link to the address of your account.</p>
${field({ name: 'email', label: 'E-mail', type: 'email', autocomplete: 'username', value: email, hasFocus: true }, problem)}
<button>Send the link</button>`
  const body = notice === undefined ? html`${problemSummary(problem)}${form({ action: '/reset-password', content })}` : done(notice)
  return show({ title: 'Reset your password', status, viewer, body: html`<div class="card">${body}</div>${backToLogin}` })
}

function newPasswordPage(token: string, { problem, status = 200, viewer }: ResetView): Shown {
  const content = html`${hidden('token', token)}
${newPasswordField({ name: 'password', hasFocus: true }, problem)}
<button>Set the password</button>`
  return show({
    title: 'Set a new password',
    status,
    viewer,
    body: html`<div class="card">${problemSummary(problem)}${form({ action: '/reset-password', content })}</div>${backToLogin}`,
  })
}
