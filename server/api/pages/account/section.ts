import type { SessionUser } from '../../../identity/sessions/store.ts'
import type { Html } from '../markup/html.ts'
import { html } from '../markup/html.ts'
import { type PageReply, redirect, show } from '../page/reply.ts'
import { type PageRequest, viewerOf } from '../page/request.ts'
import { loginPath } from '../page/return-to.ts'

interface Section {
  title: string
  body: Html
  status?: number
}

/** Shows or does something for who is logged in; others log in first, and come back to the page. */
export const forViewer =
  (page: (visit: PageRequest, viewer: SessionUser) => Promise<PageReply> | PageReply) =>
  (visit: PageRequest): Promise<PageReply> | PageReply => {
    const viewer = viewerOf(visit)
    return viewer === undefined ? redirect(loginPath(visit.url)) : page(visit, viewer)
  }

/** A page below the account, with the way back to it. */
export const sectionPage = ({ email }: SessionUser, { title, body, status = 200 }: Section): PageReply =>
  show({
    title,
    status,
    viewer: email,
    body: html`<div class="card">${body}</div><p class="quiet"><a href="/account">Back to your account</a></p>`,
  })

/** A time that people can read; in the time zone of nobody in particular. */
export const showTime = (time: string): Html => html`<time datetime="${time}">${time.slice(0, 16).replace('T', ' ')} UTC</time>`
