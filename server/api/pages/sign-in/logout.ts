import { form } from '../markup/form.ts'
import { html } from '../markup/html.ts'
import { type PageReply, redirect, show } from '../page/reply.ts'
import { type PageRequest, viewerOf } from '../page/request.ts'
import { returnPathOf } from '../page/return-to.ts'

/** A link alone, from wherever it comes, must end nothing, so this asks. */
export function showLogout(request: PageRequest): PageReply {
  const viewer = viewerOf(request)
  if (viewer === undefined) return redirect('/login')
  return show({
    title: 'Log out',
    viewer: viewer.email,
    body: html`<div class="card">${form({ action: '/logout', content: html`<button autofocus>Log out</button>` })}</div>`,
  })
}

export async function logOut({ ask, fields }: PageRequest): Promise<PageReply> {
  const ended = await ask('logout')
  const next = fields.returnTo === undefined ? '/login?notice=logged_out' : returnPathOf(fields.returnTo)
  return redirect(next, ended.isDone ? ended.cookies : [])
}
