import type { SessionUser } from '../../../identity/sessions/store.ts'
import { newPasswordField } from '../markup/fields.ts'
import { field, form, type Problem, problemSummary } from '../markup/form.ts'
import { html } from '../markup/html.ts'
import { type PageReply, redirect } from '../page/reply.ts'
import { problemOf } from '../page/request.ts'
import { forViewer, sectionPage } from './section.ts'

export const showPassword = forViewer((_, viewer) => passwordPage(viewer))

export const changePassword = forViewer(async ({ ask, fields }, viewer) => {
  const { currentPassword = '', newPassword = '' } = fields
  const changed = await ask('changePassword', { body: { currentPassword, newPassword } })
  if (changed.isDone) return redirect('/account?notice=password_changed', changed.cookies)
  return passwordPage(viewer, { problem: problemOf(changed), status: changed.status })
})

function passwordPage(viewer: SessionUser, { problem, status = 200 }: { problem?: Problem; status?: number } = {}): PageReply {
  const content = html`<input type="email" value="${viewer.email}" autocomplete="username" hidden readonly>
${field({ name: 'currentPassword', label: 'Present password', type: 'password', autocomplete: 'current-password', hasFocus: true }, problem)}
${newPasswordField({ name: 'newPassword' }, problem)}
<p class="quiet">All other sessions, of browsers and devices, end.</p>
<button>Change the password</button>`
  return sectionPage(viewer, {
    title: 'Change the password',
    status,
    body: html`${problemSummary(problem)}${form({ action: '/account/password', content })}`,
  })
}
