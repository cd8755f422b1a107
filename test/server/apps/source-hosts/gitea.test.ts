import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hookSecretOf } from '../../../../server/apps/source-hosts/deliveries/signature.ts'
import { hostCredentials, locate } from '../../../../server/apps/source-hosts/hosts/credential.ts'
import { openInstallation } from '../../../../server/apps/source-hosts/hosts/open.ts'
import type { CommitReport, SourceHost } from '../../../../server/apps/source-hosts/port.ts'
import { MAX_DELIVERIES } from '../../../../server/apps/source-hosts/store/deliveries.ts'
import { installationById } from '../../../../server/apps/source-hosts/store/installations.ts'
import { personalSecrets } from '../../../../server/apps/source-hosts/store/secrets.ts'
import { runProcess } from '../../../../server/platform/process/spawn.ts'
import { type Repository, type SourceHostInstallation, type SourceHostStatus, unavailableHeader } from '../../../../shared/source-host.ts'
import { createService } from '../../../support/apps.ts'
import { type Gitea, type GiteaUser, startGitea } from '../../../support/gitea.ts'
import { type SourceHostServer, signatureOf, startSourceHostServer } from '../../../support/source-hosts.ts'
import { until } from '../../../support/until.ts'

const never = new AbortController().signal

describe('a Gitea', () => {
  let gitea: Gitea
  let world: SourceHostServer
  let ada: GiteaUser
  let bob: GiteaUser
  let installation: SourceHostInstallation
  let host: SourceHost

  beforeAll(async () => {
    gitea = await startGitea()
    world = await startSourceHostServer({ CP_GITEA_URL: gitea.url, CP_GITEA_CA_FILE: gitea.caFile })
    ada = await gitea.addUser('ada')
    bob = await gitea.addUser('bob')
    for (const name of ['shop', 'shop-admin', 'blog']) await gitea.addRepository(ada, name)
    await gitea.addRepository(bob, 'secret')
    installation = (await world.api<SourceHostInstallation>('/v1/gitea/installations', { json: { token: ada.token } })).body
    const stored = installationById(world.server.db, installation.id)
    if (stored === undefined) throw new Error('It is not connected')
    host = openInstallation(world.server.context, stored)
  }, 180_000)
  afterAll(async () => {
    await world?.close()
    await gitea?.close()
  })

  const deliveries = () =>
    world.server.db.query<{ count: number }, []>('SELECT count(*) AS count FROM source_host_deliveries').get()?.count ?? 0
  const secretOf = (id: string) =>
    personalSecrets.open(world.server.context.sealer, id, installationById(world.server.db, id)?.secretsSealed ?? '').webhookSecret

  describe('is connected by a token', () => {
    test('that it takes: the account is told, and the token nowhere', async () => {
      expect(installation).toMatchObject({ provider: 'gitea', account: 'ada', url: gitea.url })
      const { status, body } = await world.api<SourceHostStatus>('/v1/sourcehost/status')
      expect(status).toBe(200)
      expect(body).toMatchObject({ configured: true, installed: true, account: 'ada', installations: [{ id: installation.id }] })
      const { body: audit } = await world.api('/v1/audit-logs')
      expect(JSON.stringify([body, installation, audit, world.server.logged])).not.toContain(ada.token)
      expect(Buffer.from(world.server.db.serialize()).includes(ada.token)).toBe(false)
    })

    test('and again by another one of the same person, which takes its place', async () => {
      const { status, body } = await world.api<SourceHostInstallation>('/v1/gitea/installations', { json: { token: ada.token } })
      expect([status, body.id]).toEqual([201, installation.id])
    })

    test('and not by one that it does not know', async () => {
      const { status, body } = await world.api('/v1/gitea/installations', { json: { token: '0'.repeat(40) } })
      expect(status).toBe(400)
      expect(body).toMatchObject({ code: 'validation_failed', details: [{ path: '/token' }] })
      expect(String(body.message)).toContain('/user/settings/applications')
    })
  })

  describe('lists repositories', () => {
    const names = async (query = '') => (await world.api<{ repo: Repository; cursor: string }[]>(`/v1/sourcehost/repos${query}`)).body

    test('of the account, and nobody else’s', async () => {
      const found = (await names()).map(({ repo }) => repo)
      expect(found.map(({ name }) => name).sort()).toEqual(['ada/blog', 'ada/shop', 'ada/shop-admin'])
      expect(found[0]).toMatchObject({ provider: 'gitea', private: true, defaultBranch: 'main', installationId: installation.id })
    })

    test('by a part of the name, page by page', async () => {
      const [first] = await names('?search=SHOP&limit=1')
      const [second] = await names(`?search=SHOP&limit=1&cursor=${first?.cursor}`)
      expect([first?.repo.name, second?.repo.name].sort()).toEqual(['ada/shop', 'ada/shop-admin'])
      expect(await names(`?search=SHOP&limit=1&cursor=${second?.cursor}`)).toEqual([])
    })
  })

  describe('a repository that a service is deployed from', () => {
    test('gets one webhook, whose deliveries of pushes, deleted branches and checks are taken', async () => {
      await createService(world.server, { name: 'shop', repo: `${gitea.url}/ada/shop.git`, branch: 'main' })
      await world.hooks.settled()
      world.hooks.pokeAll()
      await world.hooks.settled()
      const hooks = await gitea.ask<{ config: { url: string } }[]>(ada, 'GET', '/repos/ada/shop/hooks')
      expect(hooks.map(({ config }) => config.url)).toEqual([
        `${world.server.url}/v1/gitea/webhook?installation=${installation.id}&repo=ada%2Fshop`,
      ])
      const before = deliveries()
      const commit = await gitea.commit(ada, 'shop', 'a.txt')
      await until('the push is taken', () => deliveries() === before + 1)
      await gitea.ask(ada, 'POST', `/repos/ada/shop/statuses/${commit}`, { state: 'success', context: 'ci/build' })
      await until('the check is taken', () => deliveries() === before + 2)
    })

    test('that nothing is deployed from any more loses it', async () => {
      const serviceId = await createService(world.server, { name: 'blog', repo: `${gitea.url}/ada/blog` })
      await world.hooks.settled()
      const hooks = () => gitea.ask<unknown[]>(ada, 'GET', '/repos/ada/blog/hooks')
      expect(await hooks()).toHaveLength(1)
      await world.api(`/v1/services/${serviceId}`, { method: 'PATCH', json: { repo: '' } })
      world.hooks.pokeAll()
      await world.hooks.settled()
      expect(await hooks()).toHaveLength(0)
    })

    test('of somebody else, or that is not there, leaves the reason, and is tried again later', async () => {
      await createService(world.server, { name: 'theirs', repo: `${gitea.url}/bob/secret` })
      await world.hooks.settled()
      const row = world.server.db.query('SELECT problem, attempts FROM source_host_hooks WHERE repo = ?').get('bob/secret')
      expect(row).toMatchObject({ attempts: 1, problem: expect.stringContaining('does not have it') })
      const { body } = await world.api<SourceHostStatus>('/v1/gitea/status')
      expect(body.installations[0]?.problem).toContain('bob/secret has no webhook')
    })
  })

  describe('a delivery', () => {
    const body = JSON.stringify({ ref: 'refs/heads/main', after: 'a'.repeat(40), repository: {} })
    const send = (headers: Record<string, string>, raw = body, id = installation.id) =>
      world.api(`/v1/gitea/webhook?installation=${id}&repo=ada/shop`, {
        raw,
        headers: { 'content-type': 'application/json', 'x-gitea-event': 'push', ...headers },
      })
    const signed = (deliveryId: string, text = body) => ({
      'x-gitea-delivery': deliveryId,
      'x-gitea-signature': signatureOf(text, hookSecretOf(secretOf(installation.id), 'ada/shop')),
    })

    test('is refused unsigned, signed with another secret, and for nobody’s installation', async () => {
      const statuses = [
        await send({}),
        await send({ 'x-gitea-signature': signatureOf(body, 'another') }),
        await send({ 'x-gitea-signature': signatureOf(body, '') }),
        await send(signed('x'), body, 'shi-00000000000000000000'),
        await send(signed('x'), `${body} `),
      ]
      expect(statuses.map(({ status }) => status)).toEqual([401, 401, 401, 401, 401])
    })

    test('is taken once: not again by its id, nor its body under another id', async () => {
      const other = `${body}\n`
      expect((await send(signed('one'))).status).toBe(202)
      expect((await send(signed('one', other), other)).status).toBe(409)
      expect((await send(signed('two'))).status).toBe(409)
    })

    test('without an id that hosts give is refused, and so are more in a day than are kept', async () => {
      const raw = `${body}\n\n`
      expect((await send(signed('', raw), raw)).status).toBe(400)
      expect((await send(signed('x'.repeat(65), raw), raw)).status).toBe(400)
      const { db } = world.server
      db.query(
        `INSERT INTO source_host_deliveries WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${MAX_DELIVERIES})
         SELECT ?, 'many' || i, 'many' || i, ? FROM n`,
      ).run(installation.id, Date.now())
      expect((await send(signed('three', raw), raw)).status).toBe(429)
      db.query("DELETE FROM source_host_deliveries WHERE delivery_id LIKE 'many%'").run()
      expect((await send(signed('three', raw), raw)).status).toBe(202)
    })

    test('that tells of an app changes nothing: a repository’s administrators see its secret', async () => {
      const raw = JSON.stringify({ action: 'deleted', installation: { id: 1 } })
      expect((await send({ ...signed('gone', raw), 'x-gitea-event': 'installation' }, raw)).status).toBe(202)
      expect(installationById(world.server.db, installation.id)).toBeDefined()
    })

    test('that is too large is refused', async () => {
      expect((await send(signed('large'), 'x'.repeat(2 * 1024 * 1024 + 1))).status).toBe(413)
    })
  })

  describe('a deploy is told', () => {
    const report = (commit: string, state: CommitReport['state']): CommitReport => ({
      deployId: 'dep-1',
      isNewest: true,
      before: null,
      commit,
      state,
      environment: 'shop',
      description: 'Deploying',
      logUrl: 'https://cp.example.com/docs',
      reportId: null,
    })
    const told = async (commit: string) =>
      (await gitea.ask<{ statuses: { status: string; context: string }[] }>(ada, 'GET', `/repos/ada/shop/commits/${commit}/status`))
        .statuses

    test('as a status of the commit, which is no check of it; what others say is', async () => {
      const commit = await gitea.commit(ada, 'shop', 'reported.txt')
      await host.report('ada/shop', report(commit, 'in_progress'), never)
      await host.report('ada/shop', report(commit, 'success'), never)
      expect(await told(commit)).toMatchObject([{ context: 'cpd/shop', status: 'success' }])
      expect(await host.checksOf('ada/shop', commit, never)).toEqual({ state: 'pending' })
      const say = (state: string) => gitea.ask(ada, 'POST', `/repos/ada/shop/statuses/${commit}`, { state, context: 'ci/build' })
      await say('pending')
      expect(await host.checksOf('ada/shop', commit, never)).toEqual({ state: 'pending', check: 'ci/build' })
      await say('success')
      expect(await host.checksOf('ada/shop', commit, never)).toEqual({ state: 'passed' })
      await say('failure')
      expect(await host.checksOf('ada/shop', commit, never)).toEqual({ state: 'failed', check: 'ci/build' })
    })

    test('in one comment on a pull request, which is changed and not written again', async () => {
      await gitea.ask(ada, 'POST', '/repos/ada/shop/branches', { new_branch_name: 'topic' })
      await gitea.commit(ada, 'shop', 'topic.txt', 'topic')
      const { number } = await gitea.ask<{ number: number }>(ada, 'POST', '/repos/ada/shop/pulls', {
        head: 'topic',
        base: 'main',
        title: 'Topic',
      })
      const id = await host.comment('ada/shop', { request: number, text: 'one' }, never)
      expect(await host.comment('ada/shop', { request: number, text: 'two', id }, never)).toBe(id)
      const comments = await gitea.ask<{ body: string }[]>(ada, 'GET', `/repos/ada/shop/issues/${number}/comments`)
      expect(comments.map((comment) => comment.body)).toEqual(['two'])
      expect(await host.findComment('ada/shop', { request: number, text: 'two' }, never)).toBe(id)
      expect(await host.findComment('ada/shop', { request: number, text: 'one' }, never)).toBeUndefined()
      const { requests } = await host.openRequests('ada/shop', 1, never)
      expect(await host.openRequests('ada/shop', 2, never)).toEqual({ requests: [], isLast: true })
      expect(await host.request('ada/shop', number, never)).toEqual(requests[0])
      await expect(host.request('ada/shop', 999, never)).rejects.toMatchObject({ code: 'not_found' })
      expect(requests).toMatchObject([{ number, isOpen: true, isFork: false, branch: 'topic', into: { branch: 'main', isDefault: true } }])
    })
  })

  describe('git', () => {
    const lsRemote = (url: string, header?: string) =>
      runProcess(['git', 'ls-remote', '--', url, 'refs/heads/main'], {
        env: {
          PATH: process.env.PATH ?? '',
          HOME: '/nonexistent',
          GIT_TERMINAL_PROMPT: '0',
          GIT_SSL_CAINFO: gitea.caFile,
          ...(header !== undefined && { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'http.extraHeader', GIT_CONFIG_VALUE_0: header }),
        },
      })

    test('reads a private repository with what the workspace’s connection gives, and not without', async () => {
      const url = `${gitea.url}/ada/shop.git`
      const credential = await hostCredentials(world.server.context)({ workspaceId: world.workspaceId, serviceId: 'srv-1', url }, never)
      const header = `Authorization: Basic ${btoa(credential?.kind === 'token' ? `${credential.username}:${credential.token}` : '')}`
      expect((await lsRemote(url, header)).stdout).toMatch(/^[0-9a-f]{40}\trefs\/heads\/main\n$/)
      expect((await lsRemote(url)).exitCode).not.toBe(0)
    })

    test('gets nothing for repositories of other hosts, ports and paths', async () => {
      const { context } = world.server
      for (const url of [
        'https://localhost/ada/shop',
        'https://example.com/ada/shop',
        `${gitea.url}/ada`,
        `${gitea.url}/a/b/c`,
        'git@localhost:ada/shop',
      ])
        expect(locate(context, world.workspaceId, url), url).toBeUndefined()
    })
  })

  test('the connection of whoever owns a repository goes before those that may see it', async () => {
    const { body } = await world.api<SourceHostInstallation>('/v1/gitea/installations', { json: { token: bob.token } })
    const of = (name: string) => locate(world.server.context, world.workspaceId, `${gitea.url}/${name}`)?.installation.account
    expect([of('bob/secret'), of('ada/shop'), of('corp/site')]).toEqual(['bob', 'ada', 'ada'])
    await world.api(`/v1/sourcehost/installations/${body.id}`, { method: 'DELETE' })
  })

  test('a repository that was renamed is found by its old name, and tells the new one', async () => {
    await gitea.addRepository(ada, 'before')
    await gitea.ask(ada, 'PATCH', '/repos/ada/before', { name: 'after' })
    expect(await host.repository('ada/before', never)).toMatchObject({ name: 'ada/after' })
    await gitea.ask(ada, 'DELETE', '/repos/ada/after')
    await expect(host.repository('ada/before', never)).rejects.toMatchObject({ code: 'not_found' })
  })

  test('a token that was revoked is told with what to do, and keeps no other account’s repositories back', async () => {
    const carol = await gitea.addUser('carol')
    const { body } = await world.api<SourceHostInstallation>('/v1/gitea/installations', { json: { token: carol.token } })
    const [token] = await gitea.ask<{ id: number }[]>(carol, 'GET', '/users/carol/tokens')
    await gitea.ask(carol, 'DELETE', `/users/carol/tokens/${token?.id}`)
    const answer = await world.api(`/v1/sourcehost/repos?installationId=${body.id}`)
    expect(answer).toMatchObject({ status: 503, body: { message: expect.stringContaining('cpctl sourcehost connect') } })
    const all = await world.api<{ repo: Repository }[]>('/v1/sourcehost/repos')
    expect([all.status, all.headers.get(unavailableHeader)]).toEqual([200, body.id])
    expect(all.body.map(({ repo }) => repo.name)).toContain('ada/shop')
    expect((await world.api(`/v1/sourcehost/installations/${body.id}`, { method: 'DELETE' })).status).toBe(204)
    expect((await world.api('/v1/sourcehost/repos')).headers.get(unavailableHeader)).toBeNull()
  })
})
