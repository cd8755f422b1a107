import type { SessionUser } from '../../../identity/sessions/store.ts'
import { done } from '../markup/form.ts'
import { html } from '../markup/html.ts'
import type { PageReply } from '../page/reply.ts'
import { sectionPage } from './section.ts'

export const recoveryCodesPage = (viewer: SessionUser, codes: readonly string[]): PageReply =>
  sectionPage(viewer, {
    title: 'Recovery codes',
    body: html`${done('Two-factor sign-in is on.')}
<p>Keep these codes where you find them without your phone. Each lets you in once, in place of a code of the app. They are shown only now.</p>
<ul class="codes">${codes.map((code) => html`<li>${code}</li>`)}</ul>
<a class="button" href="/account">I have kept them</a>`,
  })
