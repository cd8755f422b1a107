import type { SessionUser } from '../../../identity/sessions/store.ts'
import { field, form, hidden, type Problem, problemSummary } from '../markup/form.ts'
import { type Html, html } from '../markup/html.ts'
import { qrCode } from '../markup/qr-code.ts'
import type { PageReply } from '../page/reply.ts'
import { type PageRequest, problemOf } from '../page/request.ts'
import { passwordField } from './password-field.ts'
import { recoveryCodesPage } from './recovery-codes.ts'
import { forViewer, sectionPage } from './section.ts'

interface View {
  problem?: Problem
  status?: number
}

export const showTwoFactor = forViewer((request, viewer) => (viewer.hasTwoFactor ? onPage(request, viewer) : beginPage(request, viewer)))

/** The set-up has two steps: the password for the secret, then a code of the app. */
export const setUpTwoFactor = forViewer((request, viewer) =>
  request.fields.code === undefined ? begin(request, viewer) : confirm(request, viewer),
)

async function begin(request: PageRequest, viewer: SessionUser): Promise<PageReply> {
  const { password = '' } = request.fields
  const begun = await request.ask('beginTwoFactor', { body: password === '' ? {} : { password } })
  if (!begun.isDone) return beginPage(request, viewer, { problem: problemOf(begun), status: begun.status })
  return confirmPage(viewer, begun.body.otpauthUrl)
}

async function confirm(request: PageRequest, viewer: SessionUser): Promise<PageReply> {
  const { code = '', setup = '' } = request.fields
  const confirmed = await request.ask('confirmTwoFactor', { body: { code } })
  if (confirmed.isDone) return recoveryCodesPage(viewer, confirmed.body.recoveryCodes)
  const view = { problem: problemOf(confirmed), status: confirmed.status }
  return secretOf(setup) === undefined ? beginPage(request, viewer, view) : confirmPage(viewer, setup, view)
}

async function onPage({ ask }: PageRequest, viewer: SessionUser): Promise<PageReply> {
  const state = await ask('getTwoFactor')
  const left = state.isDone ? state.body.recoveryCodesLeft : 0
  return sectionPage(viewer, {
    title: 'Two-factor sign-in',
    body: html`<p>Two-factor sign-in is <strong>on</strong>. ${left} recovery codes are left.</p>
<div class="stack">
<a class="button second" href="/account/two-factor/codes">Make new recovery codes</a>
<a class="button second" href="/account/two-factor/off">Switch it off</a>
</div>`,
  })
}

async function beginPage(request: PageRequest, viewer: SessionUser, { problem, status = 200 }: View = {}): Promise<PageReply> {
  const state = await request.ask('getTwoFactor')
  const requiredBy = state.isDone ? state.body.requiredBy : []
  const content = html`${passwordField(request, viewer, problem)}<button>Set it up</button>`
  return sectionPage(viewer, {
    title: 'Set up two-factor sign-in',
    status,
    body: html`${problemSummary(problem)}
<p>Logging in then takes a code of an authenticator app on your phone, besides the password.</p>
${requiredBy.length > 0 && html`<p>It is required by ${requiredBy.map(({ name }, index) => html`${index > 0 && ', '}<strong>${name}</strong>`)}.</p>`}
${form({ action: '/account/two-factor', content })}`,
  })
}

/** Longest secret address that we make; what is sent back may have been changed. */
const MAX_SETUP_CHARS = 600

function secretOf(setup: string): string | undefined {
  if (setup.length > MAX_SETUP_CHARS || !setup.startsWith('otpauth://totp/') || !URL.canParse(setup)) return undefined
  return new URL(setup).searchParams.get('secret') ?? undefined
}

function confirmPage(viewer: SessionUser, setup: string, { problem, status = 200 }: View = {}): PageReply {
  const content = html`${hidden('setup', setup)}
${field(
  {
    name: 'code',
    label: 'Code',
    hint: 'Six digits that the app shows now',
    autocomplete: 'one-time-code',
    inputmode: 'numeric',
    hasFocus: true,
    maxLength: 40,
  },
  problem,
)}
<button>Switch it on</button>`
  return sectionPage(viewer, {
    title: 'Set up two-factor sign-in',
    status,
    body: html`${problemSummary(problem)}
<p>Scan this with the app, or type the key.</p>
${qrCode(setup, 'QR code of the key')}
<p class="code small">${grouped(secretOf(setup) ?? '')}</p>
${form({ action: '/account/two-factor', content })}`,
  })
}

const grouped = (secret: string): Html => html`${secret.match(/.{1,4}/g)?.map((group, index) => html`${index > 0 && ' '}${group}`)}`
