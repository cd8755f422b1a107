import type { SourceHostStatus } from '../../../../shared/source-host.ts'
import { field, form, hidden, type Problem, problemSummary } from '../markup/form.ts'
import { html } from '../markup/html.ts'
import { type PageReply, redirect, show } from '../page/reply.ts'
import { type PageRequest, problemOf, viewerOf } from '../page/request.ts'
import { loginPath } from '../page/return-to.ts'
import { connectedList } from './connected.ts'

const pathFor = (ownerId: string): string => `/source-hosts/gitea${ownerId === '' ? '' : `?${new URLSearchParams({ ownerId })}`}`

export async function showGitea(request: PageRequest): Promise<PageReply> {
  return tokenPage(request, request.url.searchParams.get('ownerId') ?? '')
}

export async function connectGitea(request: PageRequest): Promise<PageReply> {
  const { token = '', ownerId = '' } = request.fields
  const connected = await request.ask('connectGitea', { body: { token, ...(ownerId !== '' && { ownerId }) } })
  if (connected.isDone) return redirect(pathFor(ownerId))
  return tokenPage(request, ownerId, { problem: problemOf(connected), status: connected.status })
}

async function tokenPage(
  request: PageRequest,
  ownerId: string,
  { problem, status = 200 }: { problem?: Problem; status?: number } = {},
): Promise<PageReply> {
  const viewer = viewerOf(request)?.email
  if (viewer === undefined) return redirect(loginPath(new URL(pathFor(ownerId), request.url)))
  const asked = await request.ask('getGiteaStatus', ownerId === '' ? {} : { query: { ownerId } })
  const seen = asked.isDone ? { told: asked.body, why: problem, status } : { told: undefined, why: problemOf(asked), status: asked.status }
  const body = html`<div class="card">${problemSummary(seen.why)}${seen.told && connecting(seen.told, ownerId)}</div>`
  return show({ title: 'Connect Gitea', viewer, status: seen.status, body })
}

function connecting(status: SourceHostStatus, ownerId: string) {
  const url = status.providers[0]?.url ?? ''
  if (!status.configured) return html`<p>No Gitea is configured. The operator sets <code>CP_GITEA_URL</code>.</p>`
  const token = field({
    name: 'token',
    label: 'Access token',
    hint: 'With the scopes read:user and write:repository',
    type: 'password',
    autocomplete: 'off',
    hasFocus: true,
    maxLength: 512,
  })
  return html`${connectedList(status)}
<p>Make an access token at <a href="${`${url}/user/settings/applications`}">${url}</a>, and give it here. It is kept encrypted, and never shown.</p>
${form({ action: '/source-hosts/gitea', content: html`${hidden('ownerId', ownerId)}${token}<button>Connect</button>` })}`
}
