import { findPendingUser, pendingTokenOf } from '../../../identity/sign-in/pending.ts'
import { secondFactorField } from '../markup/fields.ts'
import { form, hidden, type Problem, problemSummary } from '../markup/form.ts'
import { html } from '../markup/html.ts'
import { type PageReply, redirect, type Shown, show } from '../page/reply.ts'
import { type PageRequest, problemOf } from '../page/request.ts'
import { returnPathOf } from '../page/return-to.ts'

export function showCode(request: PageRequest): PageReply {
  const returnTo = returnPathOf(request.url.searchParams.get('returnTo'))
  return isAwaited(request) ? codePage(returnTo) : begunAnew(returnTo)
}

export async function sendCode(request: PageRequest): Promise<PageReply> {
  const returnTo = returnPathOf(request.fields.returnTo)
  const finished = await request.ask('finishSignIn', { body: { otp: request.fields.otp ?? '' } })
  if (finished.isDone) return redirect(returnTo, finished.cookies)
  return isAwaited(request) ? codePage(returnTo, { problem: problemOf(finished), status: finished.status }) : begunAnew(returnTo)
}

function isAwaited({ request, context: { db, now } }: PageRequest): boolean {
  const token = pendingTokenOf(request.headers)
  return token !== undefined && findPendingUser(db, token, now()) !== undefined
}

const begunAnew = (returnTo: string): PageReply => redirect(`/login?error=code_expired&returnTo=${encodeURIComponent(returnTo)}`)

function codePage(returnTo: string, { problem, status = 200 }: { problem?: Problem; status?: number } = {}): Shown {
  const content = html`${hidden('returnTo', returnTo)}
${secondFactorField({ hasFocus: true }, problem)}
<button>Log in</button>`
  return show({
    title: 'Enter the code',
    status,
    body: html`<div class="card">${problemSummary(problem)}${form({ action: '/login/code', content })}</div>
<p class="quiet"><a href="/login?returnTo=${encodeURIComponent(returnTo)}">Begin again</a></p>`,
  })
}
