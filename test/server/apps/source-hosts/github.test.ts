import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { hostCredentials } from '../../../../server/apps/source-hosts/hosts/credential.ts'
import { openInstallation } from '../../../../server/apps/source-hosts/hosts/open.ts'
import { hostWhereabouts } from '../../../../server/apps/source-hosts/hosts/whereabouts.ts'
import type { CommitReport, SourceHost } from '../../../../server/apps/source-hosts/port.ts'
import { installationById, installationsOf } from '../../../../server/apps/source-hosts/store/installations.ts'
import type { GithubManifest, Repository, SourceHostStatus } from '../../../../shared/source-host.ts'
import { call } from '../../../support/client.ts'
import { type Github, githubApp, githubInstallation, githubRepositories, startGithub, unforked } from '../../../support/github.ts'
import { githubOperation } from '../../../support/github-schemas.ts'
import { registerTenant, type Tenant } from '../../../support/members.ts'
import { type SourceHostServer, signatureOf, startSourceHostServer } from '../../../support/source-hosts.ts'

const never = new AbortController().signal
const COMMIT = 'a'.repeat(40)

const exampleOf = (method: string, path: string): unknown => githubOperation(method, path)?.example
const example = () =>
  (exampleOf('GET', '/user/installations') as { installations: { account: object }[] }).installations[0] ?? { account: {} }

/** Leads a person's browser through GitHub, which sends it back with these fields. */
async function install(world: SourceHostServer, person: Tenant, back: Record<string, string> = {}): Promise<string> {
  const { body } = await call<{ url: string }>(`${world.server.url}/v1/github/install`, { cookie: person.cookie })
  const state = new URL(body.url).searchParams.get('state') ?? ''
  const query = new URLSearchParams({ code: 'good', state, installation_id: String(githubInstallation), setup_action: 'install', ...back })
  const { headers } = await call(`${world.server.url}/v1/github/callback?${query}`, { cookie: person.cookie })
  return new URL(headers.get('location') ?? '').searchParams.get('error') ?? 'connected'
}

describe('an app that all workspaces share', () => {
  let github: Github
  let world: SourceHostServer
  let ada: Tenant
  let eve: Tenant
  let host: SourceHost

  beforeAll(async () => {
    github = startGithub()
    world = await startSourceHostServer({ ...github.sharedApp, CP_REGISTRATION: 'open', CP_SIGN_IN_LIMIT: '1000' })
    ada = await registerTenant(world.server, 'ada@example.com')
    eve = await registerTenant(world.server, 'eve@example.com')
  })
  afterAll(async () => {
    await world.close()
    await github.close()
    expect(github.breaches).toEqual([])
  })

  const status = (person: Tenant) => call<SourceHostStatus>(`${world.server.url}/v1/github/status`, { token: person.token })

  describe('is installed', () => {
    beforeEach(() => {
      for (const name of ['GET /user/installations', 'GET /user', 'GET /user/memberships/orgs/{org}']) github.answer(name, undefined)
    })

    test('by nobody who did not begin it, or does so twice', async () => {
      const { body } = await call<{ url: string }>(`${world.server.url}/v1/github/install`, { cookie: ada.cookie })
      expect(body.url).toMatch(`${github.url}/apps/${githubApp.slug}/installations/new?state=`)
      const state = new URL(body.url).searchParams.get('state') ?? ''
      expect(await install(world, eve, { state })).toBe('expired')
      expect(await install(world, ada, { state: 'made up' })).toBe('expired')
      const late = await call(`${world.server.url}/v1/github/callback?state=${state}`)
      expect(late.headers.get('location')).toContain('error=expired')
    })

    test('by nobody to whom GitHub does not show it, or whose account it is not', async () => {
      expect(await install(world, eve, { installation_id: '100' })).toBe('not_yours')
      github.answer('GET /user', () => ({ id: 8, login: 'eve' }))
      expect(await install(world, eve)).toBe('not_yours')
      expect((await status(eve)).body).toMatchObject({ configured: true, installed: false, installations: [] })
    })

    test('by its owner, and then by no other workspace', async () => {
      expect(await install(world, ada)).toBe('connected')
      expect((await status(ada)).body).toMatchObject({ installed: true, account: 'acme', installations: [{ provider: 'github' }] })
      expect(await install(world, ada)).toBe('connected')
      expect(await install(world, eve)).toBe('taken')
      expect((await status(eve)).body.installed).toBe(false)
      const [stored] = installationsOf(world.server.db, ada.workspaceId)
      if (stored === undefined) throw new Error('It is not connected')
      host = openInstallation(world.server.context, stored)
    })

    test('on an organization by its administrators only', async () => {
      const organization = () => {
        const account = { login: 'corp', id: 11, type: 'Organization' }
        return { total_count: 1, installations: [{ ...example(), id: 200, account: { ...example().account, ...account } }] }
      }
      github.answer('GET /user/installations', organization)
      github.answer('GET /user/memberships/orgs/{org}', () => ({ state: 'active', role: 'member' }))
      expect(await install(world, eve, { installation_id: '200' })).toBe('not_yours')
      github.answer('GET /user/memberships/orgs/{org}', () => ({ state: 'active', role: 'admin' }))
      expect(await install(world, eve, { installation_id: '200' })).toBe('connected')
    })

    test('not by whoever may not connect hosts any more', async () => {
      const { body } = await call<{ url: string }>(`${world.server.url}/v1/github/install`, { cookie: eve.cookie })
      const state = new URL(body.url).searchParams.get('state') ?? ''
      world.server.db.query("UPDATE members SET role = 'viewer' WHERE user_id = ?").run(eve.userId)
      const query = new URLSearchParams({ code: 'good', state, installation_id: String(githubInstallation) })
      const late = await call(`${world.server.url}/v1/github/callback?${query}`, { cookie: eve.cookie })
      expect(late.headers.get('location')).toContain('error=not_allowed')
      world.server.db.query("UPDATE members SET role = 'admin' WHERE user_id = ?").run(eve.userId)
    })
  })

  test('shows a workspace the repositories of its own installations, page by page', async () => {
    const repos = async (person: Tenant, query = '') =>
      (await call<{ repo: Repository; cursor: string }[]>(`${world.server.url}/v1/github/repos${query}`, { token: person.token })).body
    expect((await repos(ada)).map(({ repo }) => repo.name)).toEqual(githubRepositories)
    const [first] = await repos(ada, '?limit=1&search=s')
    expect((await repos(ada, `?search=s&cursor=${first?.cursor}`)).map(({ repo }) => repo.name)).toEqual(['acme/docs', 'acme/site'])
  })

  test('gives git a token of its own that reads one repository', async () => {
    const url = `${github.url}/acme/shop.git`
    const first = await hostCredentials(world.server.context)({ workspaceId: ada.workspaceId, serviceId: 'srv-1', url }, never)
    const second = await hostCredentials(world.server.context)({ workspaceId: ada.workspaceId, serviceId: 'srv-1', url }, never)
    expect(first).toEqual({ kind: 'token', username: 'x-access-token', token: expect.stringMatching(/^ghs_/), mayBePrivate: true })
    expect(second).not.toEqual(first)
    const asked = github.received.findLast(({ path }) => path === `/app/installations/${githubInstallation}/access_tokens`)
    expect(asked?.body).toEqual({ repositories: ['shop'], permissions: { contents: 'read' } })
    expect(
      await hostCredentials(world.server.context)(
        { workspaceId: ada.workspaceId, serviceId: 'srv-1', url: `${github.url}/others/shop` },
        never,
      ),
    ).toBeUndefined()
    expect(await hostCredentials(world.server.context)({ workspaceId: world.workspaceId, serviceId: 'srv-1', url }, never)).toBeUndefined()
  })

  test('tells where a repository is now, which no answer can have lead elsewhere, and nothing of one that it does not know', async () => {
    const ask = (name: string) =>
      hostWhereabouts(world.server.context)({ workspaceId: ada.workspaceId, url: `${github.url}/${name}.git` }, never)
    const GET = 'GET /repos/{owner}/{repo}'
    const names = ['acme/store', 'acme/SHOP', '../evil', 'acme/store?x=', 'acme/store/..', 'store']
    const said: unknown[] = []
    for (const full_name of names) {
      github.answer(GET, () => ({ ...unforked, full_name, clone_url: 'https://evil.example.com/acme/store.git' }))
      said.push(await ask('acme/shop'))
    }
    expect(said).toEqual([{ kind: 'renamed', url: `${github.url}/acme/store.git` }, ...Array.from({ length: 5 }, () => undefined)])
    github.answer(GET, () => new Response('{"message":"Not Found"}', { status: 404, headers: { 'content-type': 'application/json' } }))
    expect(await ask('acme/shop')).toMatchObject({ kind: 'lost', problem: expect.stringContaining('acme/shop: GitHub does not have it') })
    github.answer(GET, () => new Response('no', { status: 502 }))
    expect(await ask('acme/shop')).toBeUndefined()
    github.answer(GET, undefined)
    expect(await ask('others/shop')).toBeUndefined()
  })

  describe('tells how a deploy goes', () => {
    const report = (changes: Partial<CommitReport> = {}): CommitReport => ({
      deployId: 'dep-1',
      isNewest: true,
      before: null,
      commit: COMMIT,
      state: 'in_progress',
      environment: 'shop',
      description: 'Deploying',
      logUrl: 'https://cp.example.com/docs',
      reportId: null,
      ...changes,
    })
    const sent = (path: string) => github.received.filter((one) => one.method === 'POST' && one.path === path).map(({ body }) => body)

    test('by a status of the commit, and one deployment with its states', async () => {
      const id = await host.report('acme/shop', report(), never)
      expect(
        await host.report('acme/shop', report({ state: 'success', serviceUrl: 'https://shop.example.com', reportId: id }), never),
      ).toBe(id)
      expect(sent(`/repos/acme/shop/statuses/${COMMIT}`)).toMatchObject([{ state: 'pending', context: 'cpd/shop' }, { state: 'success' }])
      expect(sent('/repos/acme/shop/deployments')).toMatchObject([{ ref: COMMIT, environment: 'shop', auto_merge: false }])
      expect(sent(`/repos/acme/shop/deployments/${id}/statuses`)).toMatchObject([
        { state: 'in_progress' },
        { state: 'success', environment_url: 'https://shop.example.com' },
      ])
    })

    test('of which an older one, or one that is no longer live, says nothing of the commit any more', async () => {
      await host.report('acme/api', report({ state: 'failure', isNewest: false, reportId: '7' }), never)
      await host.report('acme/api', report({ state: 'inactive', before: 'success', reportId: '7' }), never)
      await host.report('acme/api', report({ state: 'canceled', reportId: '8' }), never)
      expect(sent(`/repos/acme/api/statuses/${COMMIT}`)).toMatchObject([{ state: 'error' }])
      expect(sent('/repos/acme/api/deployments/7/statuses')).toMatchObject([{ state: 'failure' }, { state: 'inactive' }])
      expect(sent('/repos/acme/api/deployments/8/statuses')).toMatchObject([{ state: 'inactive', auto_inactive: false }])
    })

    test('and goes on with the deployment of a try that it did not hear of', async () => {
      github.answer('GET /repos/{owner}/{repo}/deployments', () => [
        { ...(exampleOf('GET', '/repos/a/b/deployments') as object[])[0], id: 555 },
      ])
      expect(await host.report('acme/blog', report(), never)).toBe('555')
      expect(sent('/repos/acme/blog/deployments')).toEqual([])
      const asked = github.received.findLast(({ method, path }) => method === 'GET' && path === '/repos/acme/blog/deployments')
      expect(asked?.query.get('task')).toBe('deploy:dep-1')
      github.answer('GET /repos/{owner}/{repo}/deployments', undefined)
    })
  })

  test('lists open requests, and takes for a fork what comes from another repository', async () => {
    const [example] = exampleOf('GET', '/repos/a/b/pulls') as [{ head: { repo: object }; base: { repo: object } }]
    const from = (number: number, repo: object) => ({
      ...example,
      ...{ number, title: 'Hats', html_url: `https://github.com/acme/shop/pull/${number}`, state: 'open', labels: [], requested_teams: [] },
      head: { ...example.head, ref: 'hats', sha: COMMIT, repo },
      base: { ...example.base, ref: 'main', repo: { ...example.base.repo, id: 1, full_name: 'acme/shop', default_branch: 'main' } },
    })
    const own = { ...example.head.repo, id: 1, full_name: 'acme/shop' }
    const requests = [from(1, own), from(2, { ...own, id: 2, full_name: 'eve/shop' })]
    github.answer('GET /repos/{owner}/{repo}/pulls', () => requests)
    const { requests: found, isLast } = await host.openRequests('acme/shop', 1, never)
    const told = { isOpen: true, branch: 'hats', commit: COMMIT, into: { branch: 'main', isDefault: true } }
    expect(found).toMatchObject([
      { number: 1, isFork: false, repository: 'acme/shop', ...told },
      { number: 2, isFork: true, repository: 'eve/shop', ...told },
    ])
    expect(isLast).toBe(true)
    github.answer('GET /repos/{owner}/{repo}/pulls/{pull_number}', () => ({ ...from(2, own), state: 'closed' }))
    expect(await host.request('acme/shop', 2, never)).toMatchObject({ number: 2, ...told, isOpen: false })
  })

  test('finds the oldest comment that holds a text, as later ones may be copies', async () => {
    const [example] = exampleOf('GET', '/repos/a/b/issues/1/comments') as object[]
    const comments = ['mark', 'other', 'the mark again', 'end'].map((body, at) => ({ ...example, id: at + 1, body }))
    github.answer('GET /repos/{owner}/{repo}/issues/{issue_number}/comments', () => comments)
    expect(await host.findComment('acme/shop', { request: 1, text: 'mark' }, never)).toBe('1')
    expect(await host.findComment('acme/shop', { request: 1, text: 'none' }, never)).toBeUndefined()
  })

  test('knows what statuses and check runs of a commit come to', async () => {
    const runs = (...conclusions: (string | null)[]) => {
      const [one] = (exampleOf('GET', '/repos/a/b/commits/c/check-runs') as { check_runs: object[] }).check_runs
      const check_runs = conclusions.map((conclusion) => ({
        ...one,
        status: conclusion === null ? 'in_progress' : 'completed',
        conclusion,
      }))
      github.answer('GET /repos/{owner}/{repo}/commits/{ref}/check-runs', () => ({ total_count: check_runs.length, check_runs }))
    }
    const checks = () => host.checksOf('acme/shop', COMMIT, never)
    expect(await checks()).toMatchObject({ state: 'pending' })
    runs('success', null)
    expect(await checks()).toMatchObject({ state: 'pending' })
    runs('success', 'skipped')
    expect(await checks()).toMatchObject({ state: 'passed' })
    runs('success', 'timed_out')
    expect(await checks()).toMatchObject({ state: 'failed' })
  })

  describe('when GitHub', () => {
    const repository = 'GET /repos/{owner}/{repo}'
    const answered = async (response: Response): Promise<unknown> => {
      github.answer(repository, () => response)
      return host.repository('acme/shop', never).finally(() => github.answer(repository, undefined))
    }

    test('limits the rate, it is told for how long', async () => {
      const reset = String(Math.ceil(Date.now() / 1000) + 90)
      const limited = new Response('{}', { status: 403, headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset } })
      await expect(answered(limited)).rejects.toMatchObject({
        code: 'rate_limited',
        retryAfterSeconds: expect.toSatisfy((s: number) => s > 80 && s <= 91),
      })
      await expect(answered(new Response('{}', { status: 429, headers: { 'retry-after': '7' } }))).rejects.toMatchObject({
        retryAfterSeconds: 7,
      })
    })

    test('is down, lies or leads elsewhere, that is said, and nothing of it is believed', async () => {
      await expect(answered(new Response('no', { status: 502 }))).rejects.toMatchObject({ code: 'unavailable' })
      await expect(answered(new Response('<html>'))).rejects.toMatchObject({
        code: 'unavailable',
        message: expect.stringContaining('is none'),
      })
      await expect(answered(Response.json({ full_name: '../..', clone_url: 1 }))).rejects.toMatchObject({ code: 'unavailable' })
      const elsewhere = new Response(null, { status: 301, headers: { location: 'https://evil.example/repos/acme/shop' } })
      await expect(answered(elsewhere)).rejects.toMatchObject({ message: expect.stringContaining('another host') })
      await expect(answered(new Response('x'.repeat(5_000_000)))).rejects.toMatchObject({ code: 'unavailable' })
    })
  })

  describe('a delivery', () => {
    const payload = (action: string) => JSON.stringify({ action, installation: { id: githubInstallation }, at: crypto.randomUUID() })
    const deliver = (raw: string, headers: Record<string, string> = {}) =>
      call(`${world.server.url}/v1/github/webhook`, {
        raw,
        headers: {
          'content-type': 'application/json',
          'x-github-event': 'installation',
          'x-github-delivery': crypto.randomUUID(),
          'x-github-hook-installation-target-id': githubApp.id,
          'x-hub-signature-256': `sha256=${signatureOf(raw, githubApp.webhookSecret)}`,
          ...headers,
        },
      })
    const problem = async () => (await status(ada)).body.installations[0]?.problem

    test('of another app, or not signed by this one, is refused', async () => {
      const raw = payload('deleted')
      expect((await deliver(raw, { 'x-github-hook-installation-target-id': '1' })).status).toBe(401)
      expect((await deliver(raw, { 'x-hub-signature-256': `sha256=${signatureOf(raw, 'another')}` })).status).toBe(401)
      expect((await deliver(raw, { 'x-hub-signature-256': '' })).status).toBe(401)
      expect((await status(ada)).body.installed).toBe(true)
    })

    test('of an installation that nobody has connected changes nothing', async () => {
      const raw = JSON.stringify({ action: 'deleted', installation: { id: 4711 } })
      expect((await deliver(raw)).status).toBe(202)
      expect((await status(ada)).body.installed).toBe(true)
    })

    test('tells that the installation is suspended, resumed, and gone', async () => {
      const suspended = payload('suspend')
      expect((await deliver(suspended)).status).toBe(202)
      expect(await problem()).toContain('suspended')
      expect((await deliver(payload('unsuspend'))).status).toBe(202)
      expect(await problem()).toBeUndefined()
      expect((await deliver(suspended)).status).toBe(409)
      expect(await problem()).toBeUndefined()
      expect((await deliver(payload('deleted'))).status).toBe(202)
      expect((await status(ada)).body.installed).toBe(false)
      expect(installationById(world.server.db, 'none')).toBeUndefined()
    })
  })
})

describe('an app of the workspace’s own', () => {
  let github: Github
  let world: SourceHostServer
  let ada: Tenant

  beforeAll(async () => {
    github = startGithub()
    world = await startSourceHostServer({ CP_GITHUB_URL: github.url, CP_REGISTRATION: 'open', CP_SIGN_IN_LIMIT: '1000' })
    ada = await registerTenant(world.server, 'ada@example.com')
  })
  afterAll(async () => {
    await world.close()
    await github.close()
    expect(github.breaches).toEqual([])
  })

  test('is missing at first: the answer says what to do', async () => {
    const { status, body } = await call(`${world.server.url}/v1/github/repos`, { token: ada.token })
    expect([status, body.code]).toEqual([501, 'not_configured'])
    expect(body.message).toContain('CP_GITHUB_APP_ID')
    expect(body.message).toContain('cpctl sourcehost connect github')
  })

  async function stateIn(path: string): Promise<string> {
    const page = await call<string>(world.server.url + path, { cookie: ada.cookie })
    expect(page.status).toBe(200)
    expect(page.headers.get('content-security-policy')).toContain(`form-action 'self' ${github.url}`)
    const action = /action="([^"]*settings\/apps\/new[^"]*)"/.exec(page.body)?.[1] ?? ''
    return new URL(action.replaceAll('&amp;', '&')).searchParams.get('state') ?? ''
  }

  async function make(state: string): Promise<string | null> {
    const made = await call(`${world.server.url}/v1/github/manifest/callback?code=abc&state=${state}`, { cookie: ada.cookie })
    return made.headers.get('location')
  }

  test('is made from a manifest that a page posts, anew where it is gone from GitHub, and is then installed', async () => {
    const state = await stateIn(`/source-hosts/github?ownerId=${ada.workspaceId}`)
    expect(await make(state)).toBe(`${world.server.url}/source-hosts/github?ownerId=${ada.workspaceId}`)
    github.answer('GET /app', () => Response.json({ message: 'Integration not found' }, { status: 404 }))
    const gone = await call<string>(`${world.server.url}/source-hosts/github?ownerId=${ada.workspaceId}`, { cookie: ada.cookie })
    github.answer('GET /app', undefined)
    const again = /href="([^"]*app=new)"/.exec(gone.body)?.[1] ?? ''
    expect(again).toContain('/source-hosts/github?')
    await make(await stateIn(again.replaceAll('&amp;', '&')))
    expect(await install(world, ada)).toBe('connected')
    const shown = await call<string>(`${world.server.url}/source-hosts/github?ownerId=${ada.workspaceId}`, { cookie: ada.cookie })
    expect(shown.body).toContain('Connected to acme')
    const kept = Buffer.from(world.server.db.serialize())
    for (const secret of [github.privateKey.slice(40, 90), githubApp.clientSecret, githubApp.webhookSecret])
      expect([kept.includes(secret), JSON.stringify(world.server.logged).includes(secret)]).toEqual([false, false])
  })

  test('is made once, and by no other workspace’s people', async () => {
    const again = await call(`${world.server.url}/v1/github/manifest`, { cookie: ada.cookie })
    expect(again.status).toBe(409)
    const eve = await registerTenant(world.server, 'eve@example.com')
    const { body } = await call<GithubManifest>(`${world.server.url}/v1/github/manifest`, { cookie: eve.cookie })
    expect(JSON.parse(body.manifest)).toMatchObject({ public: false, default_permissions: { contents: 'read' } })
    expect((await call(`${world.server.url}/v1/github/status`, { token: eve.token })).body).toMatchObject({ configured: false })
  })
})
