import type { ErrorBody } from '../../../../shared/error.ts'
import { oauthProblems } from '../../../../shared/oauth.ts'
import { beginPendingSignIn, pendingCookieOf } from '../../../identity/sign-in/pending.ts'
import { findUserByEmail } from '../../../identity/users/store.ts'
import { done, field, form, hidden, type Problem, problemSummary } from '../markup/form.ts'
import { html } from '../markup/html.ts'
import { problemIn, type Sentences, sentenceIn } from '../markup/sentence.ts'
import { type PageReply, redirect, type Shown, show } from '../page/reply.ts'
import { type PageRequest, problemOf, viewerOf } from '../page/request.ts'
import { returnPathOf } from '../page/return-to.ts'
import { providerButtons } from './providers.ts'

const notices: Sentences = {
  logged_out: 'You are logged out.',
  password_set: 'The new password is set, and every session has ended. Log in with it.',
}
const problems: Sentences = {
  ...oauthProblems,
  code_expired: 'The login took too long. Begin again.',
}

interface LoginView {
  returnTo: string
  email?: string
  notice?: string | undefined
  problem?: Problem | undefined
  status?: number
}

export async function showLogin(request: PageRequest): Promise<PageReply> {
  const { searchParams } = request.url
  const returnTo = returnPathOf(searchParams.get('returnTo'))
  const problem = problemIn(problems, searchParams.get('error'))
  const notice = sentenceIn(notices, searchParams.get('notice'))
  // A visitor who is told something reads it first: a password that was set may be another account's.
  if (problem === undefined && notice === undefined && viewerOf(request) !== undefined) return redirect(returnTo)
  return loginPage(request, { returnTo, notice, problem })
}

export async function logIn(request: PageRequest): Promise<PageReply> {
  const { email = '', password = '' } = request.fields
  const returnTo = returnPathOf(request.fields.returnTo)
  const signedIn = await request.ask('login', { body: { email, password } })
  if (signedIn.isDone) return redirect(returnTo, signedIn.cookies)
  if (isCodeWanted(signedIn.error)) return askForCode(request, { email, returnTo })
  return loginPage(request, { returnTo, email, problem: problemOf(signedIn), status: signedIn.status })
}

const isCodeWanted = ({ code, details = [] }: ErrorBody): boolean => code === 'unauthorized' && details.some(({ path }) => path === '/otp')

/** The page would have to hold the right password meanwhile, so the server remembers this step. */
function askForCode({ context: { db, now, publicUrl } }: PageRequest, { email, returnTo }: { email: string; returnTo: string }): PageReply {
  const user = findUserByEmail(db, email)
  if (user === undefined) return redirect('/login')
  const token = beginPendingSignIn(db, user.id, now())
  return redirect(`/login/code?returnTo=${encodeURIComponent(returnTo)}`, [pendingCookieOf(publicUrl, token)])
}

async function loginPage(request: PageRequest, view: LoginView): Promise<Shown> {
  const { returnTo, email = '', notice, problem, status = 200 } = view
  const fields = html`${hidden('returnTo', returnTo)}
${field({ name: 'email', label: 'E-mail', type: 'email', autocomplete: 'username', value: email, hasFocus: email === '' }, problem)}
${field({ name: 'password', label: 'Password', type: 'password', autocomplete: 'current-password', hasFocus: email !== '' }, problem)}
<button>Log in</button>`
  return show({
    title: 'Log in',
    status,
    body: html`<div class="card">
${done(notice)}${problemSummary(problem)}
${form({ action: '/login', content: fields })}
${await providerButtons(request, { returnTo })}
</div>
<p class="quiet"><a href="/reset-password">Forgot your password?</a></p>`,
  })
}
