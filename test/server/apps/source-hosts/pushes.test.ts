import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { lookAtBranch } from '../../../../server/apps/repositories/looks/look.ts'
import { waitOf } from '../../../../server/apps/repositories/wait-store.ts'
import { serviceById } from '../../../../server/apps/services/store.ts'
import { hookSecretOf } from '../../../../server/apps/source-hosts/deliveries/signature.ts'
import { installationById } from '../../../../server/apps/source-hosts/store/installations.ts'
import { personalSecrets } from '../../../../server/apps/source-hosts/store/secrets.ts'
import type { Deploy } from '../../../../shared/deploy.ts'
import type { SourceHostInstallation } from '../../../../shared/source-host.ts'
import { call } from '../../../support/client.ts'
import { type FakePlatform, startFakePlatform } from '../../../support/fake-platform.ts'
import { freePorts } from '../../../support/free-ports.ts'
import { type Gitea, type GiteaUser, startGitea } from '../../../support/gitea.ts'
import { makeService, type TestService } from '../../../support/service.ts'
import { signatureOf } from '../../../support/source-hosts.ts'
import { until } from '../../../support/until.ts'

interface Status {
  context: string
  status: string
  description: string
  target_url: string
}

describe('what is pushed to a private repository of a Gitea', () => {
  let gitea: Gitea
  let platform: FakePlatform
  let ada: GiteaUser
  let installationId: string
  let service: TestService
  let first: Deploy

  beforeAll(async () => {
    gitea = await startGitea()
    const [port = 0] = freePorts(1)
    const [CP_LISTEN, CP_PUBLIC_URL] = [`127.0.0.1:${port}`, `http://127.0.0.1:${port}`]
    const env = { CP_LISTEN, CP_PUBLIC_URL, CP_GITEA_URL: gitea.url, CP_GITEA_CA_FILE: gitea.caFile }
    platform = await startFakePlatform(env, { speed: 5 })
    ada = await gitea.addUser('ada')
    for (const name of ['shop', 'other']) await gitea.addRepository(ada, name)
    for (const file of ['package.json', 'server.js']) await gitea.commit(ada, 'shop', file)
    const connected = await call<SourceHostInstallation>(`${platform.url}/v1/gitea/installations`, {
      json: { token: ada.token },
      token: platform.adminToken,
    })
    installationId = connected.body.id
    const serviceDetails = { envSpecificDetails: { startCommand: 'serve' }, maxShutdownDelaySeconds: 1, cutoverGuard: { enabled: false } }
    const repo = `${gitea.url}/ada/shop`
    service = await makeService(platform, { type: 'background_worker', name: 'shop', repo, branch: 'main', serviceDetails })
    const [made] = await deploys()
    first = await service.ends(made?.id ?? '')
    await until('its webhook is made', async () => (await hooks()).length === 1)
  }, 240_000)
  afterAll(async () => {
    await platform?.close()
    await gitea?.close()
  })

  const hooks = () => gitea.ask<{ id: number; events: string[] }[]>(ada, 'GET', '/repos/ada/shop/hooks')
  const deploys = async (): Promise<Deploy[]> => (await service.ask<{ deploy: Deploy }[]>('/deploys')).body.map(({ deploy }) => deploy)
  const deployOf = async (commit: string) => (await deploys()).find((one) => one.commit?.id === commit)

  test('was fetched with the token of the connection at the first deploy, which no log has', async () => {
    expect(first).toMatchObject({ status: 'live', commit: { message: expect.stringContaining('Add server.js') } })
    expect(JSON.stringify(platform.logged)).not.toContain(ada.token)
  })

  test('is deployed as its delivery tells, once', async () => {
    const commit = await gitea.commit(ada, 'shop', 'pushed.txt')
    await until('it is deployed', async () => (await deployOf(commit)) !== undefined)
    const deploy = await deployOf(commit)
    expect(await service.ends(deploy?.id ?? '')).toMatchObject({ status: 'live', trigger: 'new_commit', commit: { id: commit } })
    expect((await deploys()).filter((one) => one.commit?.id === commit)).toHaveLength(1)
  })

  test('has its deploy told at the host: pending, then how it ended, with a link to it', async () => {
    const statusOf = async (commit: string) => {
      const { statuses } = await gitea.ask<{ statuses: Status[] | null }>(ada, 'GET', `/repos/ada/shop/commits/${commit}/status`)
      return statuses?.find(({ context }) => context === `cpd/shop.localhost-${service.id.slice(-6)}`)
    }
    const commit = await gitea.commit(ada, 'shop', 'told.txt')
    const told = await until('it is told', async () => {
      const seen = await statusOf(commit)
      return seen?.status === 'success' && seen
    })
    const deploy = await deployOf(commit)
    expect(told).toMatchObject({ description: 'Live', target_url: expect.stringContaining(deploy?.id ?? 'none') })
    await until('nothing is open', async () => (await statusOf(first.commit?.id ?? ''))?.status === 'success')
    const history = await gitea.ask<Status[]>(ada, 'GET', `/repos/ada/shop/statuses/${commit}`)
    expect(history.map(({ status }) => status)).toContain('pending')
  })

  test('and asks in its message not to be deployed, is not, and the events say why', async () => {
    const path = '/repos/ada/shop/contents/skipped.txt'
    const json = { content: btoa('skipped'), message: 'Change [skip deploy]', branch: 'main' }
    const { commit } = await gitea.ask<{ commit: { sha: string } }>(ada, 'POST', path, json)
    const isSaid = async () => (await service.events()).some(({ details }) => JSON.stringify(details).includes(commit.sha))
    await until('it is said', isSaid)
    expect(await deployOf(commit.sha)).toBeUndefined()
  })

  test('waits for its checks where the service asks for that, and is deployed once the host tells that they passed', async () => {
    const say = (commit: string, state: string) =>
      gitea.ask(ada, 'POST', `/repos/ada/shop/statuses/${commit}`, { state, context: 'ci/build' })
    await service.ask('', { method: 'PATCH', json: { autoDeployTrigger: 'checksPass' } })
    const [bad, good] = [await gitea.commit(ada, 'shop', 'bad.txt'), await gitea.commit(ada, 'shop', 'good.txt')]
    await until('it waits', () => waitOf(platform.context.db, service.id)?.commitId === good)
    await say(bad, 'success')
    await say(good, 'pending')
    await say(good, 'success')
    const deploy = await until('it is deployed', () => deployOf(good))
    expect(await service.ends(deploy.id)).toMatchObject({ status: 'live' })
    expect(await deployOf(bad)).toBeUndefined()
    const failing = await gitea.commit(ada, 'shop', 'failing.txt')
    await until('it waits', () => waitOf(platform.context.db, service.id)?.commitId === failing)
    await say(failing, 'failure')
    const told = async () => (await service.events()).filter(({ details }) => details.commitId === failing).map(({ type }) => type)
    await until('it is ignored', async () => (await told()).includes('commit_ignored'))
    expect(await deployOf(failing)).toBeUndefined()
    await say(failing, 'success')
    const rerun = await until('what passes in another run is deployed', () => deployOf(failing))
    expect(await service.ends(rerun.id)).toMatchObject({ status: 'live' })
    expect(await told()).toEqual(['commit_waiting', 'commit_ignored'])
    await service.ask('', { method: 'PATCH', json: { autoDeployTrigger: 'commit' } })
  })

  test('is found by a look at the branch where its delivery was lost', async () => {
    const [hook] = await hooks()
    // Events that are left out are taken from it.
    const setActive = (active: boolean) => gitea.ask(ada, 'PATCH', `/repos/ada/shop/hooks/${hook?.id}`, { active, events: hook?.events })
    await setActive(false)
    const commit = await gitea.commit(ada, 'shop', 'lost.txt')
    const { context } = platform
    const stored = serviceById(context.db, service.id)
    if (stored === undefined) throw new Error('It is gone')
    await lookAtBranch(context, stored, context.stopping)
    const deploy = await deployOf(commit)
    expect(await service.ends(deploy?.id ?? '')).toMatchObject({ status: 'live', commit: { id: commit } })
    await setActive(true)
  })

  test('is believed of the repository alone whose webhook signed it', async () => {
    const before = (await deploys()).length
    const { secretsSealed } = installationById(platform.context.db, installationId) ?? { secretsSealed: null }
    const { webhookSecret } = personalSecrets.open(platform.context.sealer, installationId, secretsSealed ?? '')
    const [clone_url, html_url] = [`${gitea.url}/ada/shop.git`, `${gitea.url}/ada/shop`]
    const repository = { full_name: 'ada/shop', clone_url, html_url, default_branch: 'main' }
    const raw = JSON.stringify({ ref: 'refs/heads/main', after: 'b'.repeat(40), repository, commits: [] })
    const send = (repo: string, signedFor: string) =>
      call(`${platform.url}/v1/gitea/webhook?installation=${installationId}&repo=${repo}`, {
        raw,
        headers: {
          'content-type': 'application/json',
          'x-gitea-event': 'push',
          'x-gitea-delivery': crypto.randomUUID(),
          'x-gitea-signature': signatureOf(raw, hookSecretOf(webhookSecret, signedFor)),
        },
      })
    expect((await send('ada/shop', 'ada/other')).status).toBe(401)
    expect((await send('ada/other', 'ada/other')).status).toBe(202)
    expect(await deploys()).toHaveLength(before)
  })

  test('with the branch itself removed is told as an event', async () => {
    await gitea.ask(ada, 'POST', '/repos/ada/shop/branches', { new_branch_name: 'topic' })
    await service.ask('', { method: 'PATCH', json: { branch: 'topic' } })
    await gitea.ask(ada, 'DELETE', '/repos/ada/shop/branches/topic')
    await until('it is told', async () => (await service.events()).some(({ type }) => type === 'branch_deleted'))
  })
})
