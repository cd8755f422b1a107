import type { SessionUser } from '../../../identity/sessions/store.ts'
import { findUser } from '../../../identity/users/store.ts'
import { field, type Problem } from '../markup/form.ts'
import { type Html, html } from '../markup/html.ts'
import type { PageRequest } from '../page/request.ts'

/** An account without a password has shown itself by a young sign-in, and is asked for none. */
export function passwordField({ context: { db } }: PageRequest, { id, email }: SessionUser, problem?: Problem): Html {
  if (findUser(db, id)?.passwordHash === '') return html``
  return html`<input type="email" value="${email}" autocomplete="username" hidden readonly>
${field({ name: 'password', label: 'Password', type: 'password', autocomplete: 'current-password', hasFocus: true }, problem)}`
}
