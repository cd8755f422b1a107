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

/** Visitors who are not logged in log in first, and come back to the page. */
export const forViewer =
  (page: (request: PageRequest, viewer: SessionUser) => Promise<PageReply> | PageReply) =>
  (request: PageRequest): Promise<PageReply> | PageReply => {
    const viewer = viewerOf(request)
    return viewer === undefined ? redirect(loginPath(request.url)) : page(request, viewer)
  }

export const sectionPage = ({ email }: SessionUser, { title, body, status = 200 }: Section): PageReply =>
  show({
    title,
    status,
    viewer: email,
    body: html`<div class="card">${body}</div><p class="quiet"><a href="/account">Back to your account</a></p>`,
  })

/** Times are in UTC, the time zone of nobody in particular. */
export const showTime = (time: string): Html => html`<time datetime="${time}">${time.slice(0, 16).replace('T', ' ')} UTC</time>`
