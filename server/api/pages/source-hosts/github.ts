import { type SourceHostProblem, type SourceHostStatus, sourceHostProblems } from '../../../../shared/source-host.ts'
import { hidden, problemSummary } from '../markup/form.ts'
import { type Content, type Html, html } from '../markup/html.ts'
import { pagePolicy } from '../page/document.ts'
import { type PageReply, redirect, show } from '../page/reply.ts'
import { type PageRequest, problemOf, viewerOf } from '../page/request.ts'
import { loginPath } from '../page/return-to.ts'
import { connectedList } from './connected.ts'

export async function showGithub(request: PageRequest): Promise<PageReply> {
  const viewer = viewerOf(request)?.email
  if (viewer === undefined) return redirect(loginPath(request.url))
  const ownerId = request.url.searchParams.get('ownerId') ?? ''
  const query = ownerId === '' ? {} : { query: { ownerId } }
  const asked = await request.ask('getGithubStatus', query)
  if (!asked.isDone) return failed(viewer, { status: asked.status, message: problemOf(asked).message })
  const isNew = request.url.searchParams.get('app') === 'new'
  return asked.body.configured && !isNew
    ? installPage(request, { viewer, query, status: asked.body })
    : makePage(request, { viewer, query })
}

interface Asking {
  viewer: string
  query: { query?: Record<string, string> }
}

async function makePage(request: PageRequest, { viewer, query }: Asking): Promise<PageReply> {
  const begun = await request.ask('beginGithubApp', query)
  if (!begun.isDone) return failed(viewer, { status: begun.status, message: problemOf(begun).message })
  const { action, manifest } = begun.body
  return show({
    title: 'Connect GitHub',
    viewer,
    headers: { 'Content-Security-Policy': pagePolicy.replace("form-action 'self'", `form-action 'self' ${new URL(action).origin}`) },
    body: html`<div class="card">
${told(request)}
<p>Repositories at GitHub are deployed through an app of your own, which GitHub makes now. Its key is kept here, encrypted, and nobody else has it.</p>
<form method="post" action="${action}">${hidden('manifest', manifest)}<button>Make the app at GitHub</button></form>
</div>`,
  })
}

async function installPage(request: PageRequest, { viewer, query, status }: Asking & { status: SourceHostStatus }): Promise<PageReply> {
  const install = await request.ask('getGithubInstall', query)
  const another = `/source-hosts/github?${new URLSearchParams({ ...query.query, app: 'new' })}`
  const remake = html`<p class="quiet">If the app is not at GitHub any more, <a href="${another}">make another</a>.</p>`
  if (!install.isDone) return failed(viewer, { status: install.status, message: problemOf(install).message, next: remake })
  return show({
    title: 'Connect GitHub',
    viewer,
    body: html`<div class="card">
${told(request)}
${connectedList(status)}
<p>At GitHub you choose the account, and which of its repositories are let in.</p>
<p><a class="button" href="${install.body.url}">Choose repositories at GitHub</a></p>
${!status.installed && remake}
</div>`,
  })
}

const failed = (viewer: string, { status, message, next }: { status: number; message: string; next?: Html }): PageReply =>
  show({ title: 'Connect GitHub', viewer, status, body: html`<div class="card">${problemSummary({ message, fields: {} })}${next}</div>` })

function told({ url }: PageRequest): Content {
  const error = url.searchParams.get('error') ?? ''
  return Object.hasOwn(sourceHostProblems, error) && problemSummary({ message: sourceHostProblems[error as SourceHostProblem], fields: {} })
}
