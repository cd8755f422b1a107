import type { SessionUser } from '../../../identity/sessions/store.ts'
import { secondFactorField } from '../markup/fields.ts'
import { form, type Problem, problemSummary } from '../markup/form.ts'
import { type Html, html } from '../markup/html.ts'
import { type PageReply, redirect } from '../page/reply.ts'
import { type PageRequest, problemOf } from '../page/request.ts'
import { passwordField } from './password-field.ts'
import { recoveryCodesPage } from './recovery-codes.ts'
import { forViewer, sectionPage } from './section.ts'

type Purpose = 'off' | 'codes'

const words: Record<Purpose, { title: string; explanation: string; button: Html }> = {
  off: {
    title: 'Switch two-factor sign-in off',
    explanation: 'The password alone will do then. The recovery codes are good no longer.',
    button: html`<button class="grave">Switch it off</button>`,
  },
  codes: {
    title: 'Make new recovery codes',
    explanation: 'The codes that you have are good no longer then.',
    button: html`<button>Make new codes</button>`,
  },
}

export const showProof = (purpose: Purpose) =>
  forViewer((request, viewer) => (viewer.hasTwoFactor ? proofPage(request, viewer, { purpose }) : redirect('/account/two-factor')))

export const useProof = (purpose: Purpose) =>
  forViewer(async (request, viewer) => {
    const { password = '', otp = '' } = request.fields
    const body = { otp, ...(password === '' ? {} : { password }) }
    if (purpose === 'off') {
      const removed = await request.ask('removeTwoFactor', { body })
      if (removed.isDone) return redirect('/account?notice=two_factor_off', removed.cookies)
      return proofPage(request, viewer, { purpose, problem: problemOf(removed), status: removed.status })
    }
    const renewed = await request.ask('renewRecoveryCodes', { body })
    if (renewed.isDone) return recoveryCodesPage(viewer, renewed.body.recoveryCodes)
    return proofPage(request, viewer, { purpose, problem: problemOf(renewed), status: renewed.status })
  })

interface View {
  purpose: Purpose
  problem?: Problem
  status?: number
}

function proofPage(request: PageRequest, viewer: SessionUser, { purpose, problem, status = 200 }: View): PageReply {
  const { title, explanation, button } = words[purpose]
  const content = html`${passwordField(request, viewer, problem)}${secondFactorField({}, problem)}${button}`
  return sectionPage(viewer, {
    title,
    status,
    body: html`${problemSummary(problem)}<p>${explanation}</p>${form({ action: `/account/two-factor/${purpose}`, content })}`,
  })
}
