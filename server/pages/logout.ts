import { form } from './form.ts'
import { html } from './html.ts'
import { type PageReply, redirect, show } from './reply.ts'
import { nameOf, type PageVisit, viewerOf } from './visit.ts'

/** Asks, because a link alone, from wherever it comes, ends nothing. */
export async function showLogout(visit: PageVisit): Promise<PageReply> {
  const me = await viewerOf(visit)
  if (me === undefined) return redirect('/login')
  return show({
    title: 'Log out',
    viewer: nameOf(me),
    body: html`<div class="card">${form({ action: '/logout', content: html`<button autofocus>Log out</button>` })}</div>`,
  })
}

export async function logOut({ ask }: PageVisit): Promise<PageReply> {
  const ended = await ask('logout')
  return redirect('/login?notice=logged_out', ended.isDone ? ended.cookies : [])
}
