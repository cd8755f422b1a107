import type { DeviceRequest } from '../../../../shared/device.ts'
import { done, field, form, hidden, type Problem, problemSummary } from '../markup/form.ts'
import { type Html, html } from '../markup/html.ts'
import { type PageReply, redirect, show } from '../page/reply.ts'
import { type PageRequest, problemOf, viewerOf } from '../page/request.ts'
import { loginPath } from '../page/return-to.ts'

export async function showDevice(request: PageRequest): Promise<PageReply> {
  const viewer = viewerOf(request)?.email
  if (viewer === undefined) return redirect(loginPath(request.url))
  const code = request.url.searchParams.get('code') ?? ''
  if (code === '') return codePage(viewer, code)
  const asked = await request.ask('getDeviceRequest', { query: { code } })
  if (!asked.isDone) return codePage(viewer, code, { problem: problemOf(asked), status: asked.status })
  return asked.body.status === 'pending' ? questionPage(viewer, asked.body) : answeredPage(viewer, asked.body)
}

export async function answerDevice(request: PageRequest): Promise<PageReply> {
  const viewer = viewerOf(request)?.email
  const { code = '', answer } = request.fields
  if (viewer === undefined) return redirect(loginPath(new URL(`/device?code=${encodeURIComponent(code)}`, request.url)))
  const answered = await request.ask('answerDeviceRequest', { body: { code, approve: answer === 'approve' } })
  if (!answered.isDone) return codePage(viewer, code, { problem: problemOf(answered), status: answered.status })
  return redirect(`/device?code=${encodeURIComponent(answered.body.userCode)}`)
}

function codePage(viewer: string, code: string, { problem, status = 200 }: { problem?: Problem; status?: number } = {}): PageReply {
  const input = field({
    name: 'code',
    label: 'Code',
    hint: 'Eight letters that the device shows',
    autocomplete: 'off',
    value: code,
    hasFocus: true,
    maxLength: 40,
  })
  return show({
    title: 'Log in a device',
    viewer,
    status,
    body: html`<div class="card">
${problemSummary(problem)}
<form method="get" action="/device">${input}<button>Continue</button></form>
</div>`,
  })
}

function questionPage(viewer: string, request: DeviceRequest): PageReply {
  const { client, address, userCode, workspaces } = request
  const answers = html`${hidden('code', userCode)}
<div class="row">
<button name="answer" value="approve">Let it in</button>
<button name="answer" value="deny" class="second">Refuse</button>
</div>`
  return show({
    title: 'Let this device in?',
    viewer,
    body: html`<div class="card">
<p>Compare the code with the one that the device shows:</p>
<p class="code">${userCode}</p>
<dl>
<dt>Program</dt><dd>${client}</dd>
<dt>Asks from</dt><dd>${address}</dd>
</dl>
<p>It will act as <strong>${viewer}</strong>, and can do all that you can${whereOf(workspaces)}, until you log it out. It does not learn your password.</p>
<p class="quiet">If you have not begun a login just now, refuse: somebody else may have sent you here.</p>
${form({ action: '/device', content: answers })}
</div>`,
  })
}

const whereOf = (workspaces: DeviceRequest['workspaces']): Html =>
  html`${workspaces.map(({ name, role }, index) => html`${index === 0 ? ' in ' : index === workspaces.length - 1 ? ' and ' : ', '}<strong>${name}</strong> (${role})`)}`

const answers = {
  approved: { title: 'The device is logged in', message: 'You can close this page and go on with the device.' },
  denied: { title: 'The device was refused', message: 'It has not been let in. You can close this page.' },
}

function answeredPage(viewer: string, { client, status }: DeviceRequest): PageReply {
  const { title, message } = answers[status === 'approved' ? 'approved' : 'denied']
  return show({
    title,
    viewer,
    body: html`<div class="card">${done(message)}<p>${client}</p><p><a href="/account/sessions">See where you are logged in</a></p></div>`,
  })
}
