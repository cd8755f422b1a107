import type { Session } from '../../../../shared/account.ts'
import { clientName } from '../../../../shared/client-name.ts'
import { done, form, hidden, problemSummary } from '../markup/form.ts'
import { type Html, html } from '../markup/html.ts'
import { problemIn, type Sentences, sentenceIn } from '../markup/sentence.ts'
import { redirect } from '../page/reply.ts'
import { forViewer, sectionPage, showTime } from './section.ts'

const notices: Sentences = { ended: 'The session has ended.', others_ended: 'All other sessions have ended.' }
const problems: Sentences = { gone: 'That session had ended already.' }
const MOST_SESSIONS = '100'

export const showSessions = forViewer(async ({ ask, url }, viewer) => {
  const listed = await ask('listSessions', { query: { limit: MOST_SESSIONS } })
  const sessions = listed.isDone ? listed.body.map(({ session }) => session) : []
  const others = form({
    action: '/account/sessions',
    content: html`${hidden('id', 'others')}<button class="grave">End all other sessions</button>`,
  })
  return sectionPage(viewer, {
    title: 'Sessions',
    body: html`${done(sentenceIn(notices, url.searchParams.get('notice')))}
${problemSummary(problemIn(problems, url.searchParams.get('error')))}
<ul class="list">${sessions.map(row)}</ul>
${sessions.length > 1 && others}`,
  })
})

export const endSession = forViewer(async ({ ask, fields }) => {
  const { id = '' } = fields
  if (id === 'others') {
    const ended = await ask('endOtherSessions')
    return redirect(ended.isDone ? '/account/sessions?notice=others_ended' : '/account/sessions')
  }
  const ended = await ask('endSession', { params: { sessionId: id } })
  return ended.isDone ? redirect('/account/sessions?notice=ended', ended.cookies) : redirect('/account/sessions?error=gone')
})

const kinds = { browser: 'Browser', device: 'Device' }

const row = ({ id, kind, client, address, lastSeenAt, createdAt, isCurrent }: Session): Html => html`<li><span>
<strong>${clientName(client)}</strong>${isCurrent && html` <span class="quiet">(this one)</span>`}<br>
<span class="quiet">${kinds[kind]}${address !== '' && ` at ${address}`}<br>Since ${showTime(createdAt)}<br>Seen ${showTime(lastSeenAt)}</span></span>
${
  !isCurrent &&
  form({
    action: '/account/sessions',
    content: html`${hidden('id', id)}<button class="second" aria-label="End the session of ${clientName(client)}">End</button>`,
  })
}</li>`
