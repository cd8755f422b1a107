import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { releaseSecrets } from '../../../../server/apps/deploys/release-store.ts'
import { deployById } from '../../../../server/apps/deploys/store.ts'
import { lookAtRequests } from '../../../../server/apps/previews/look.ts'
import { networkOf } from '../../../../server/apps/private-network/names/network.ts'
import { serviceById } from '../../../../server/apps/services/store.ts'
import type { Preview } from '../../../../shared/preview.ts'
import { call } from '../../../support/client.ts'
import { type FakePlatform, startFakePlatform } from '../../../support/fake-platform.ts'
import { freePorts } from '../../../support/free-ports.ts'
import { type Gitea, type GiteaUser, startGitea } from '../../../support/gitea.ts'
import { makeService, type TestService } from '../../../support/service.ts'
import { until } from '../../../support/until.ts'

describe('requests at a Gitea', () => {
  let gitea: Gitea
  let platform: FakePlatform
  let ada: GiteaUser
  let eve: GiteaUser
  let parent: TestService

  beforeAll(async () => {
    gitea = await startGitea()
    const [port = 0] = freePorts(1)
    const [CP_LISTEN, CP_PUBLIC_URL] = [`127.0.0.1:${port}`, `http://127.0.0.1:${port}`]
    platform = await startFakePlatform({ CP_LISTEN, CP_PUBLIC_URL, CP_GITEA_URL: gitea.url, CP_GITEA_CA_FILE: gitea.caFile }, { speed: 4 })
    ada = await gitea.addUser('ada')
    eve = await gitea.addUser('eve')
    await gitea.addRepository(ada, 'shop')
    await gitea.ask(ada, 'PATCH', '/repos/ada/shop', { private: false })
    for (const file of ['package.json', 'server.js']) await gitea.commit(ada, 'shop', file)
    await call(`${platform.url}/v1/gitea/installations`, { json: { token: ada.token }, token: platform.adminToken })
    parent = await makeService(platform, {
      name: 'shop',
      repo: `${gitea.url}/ada/shop`,
      branch: 'main',
      envVars: [
        { key: 'STRIPE_KEY', value: 'live key' },
        { key: 'MODE', value: 'production' },
      ],
      secretFiles: [{ name: 'key.pem', content: 'secret' }],
      serviceDetails: {
        envSpecificDetails: { startCommand: 'listen; answer 200; serve' },
        plan: 'standard',
        maxShutdownDelaySeconds: 1,
        cutoverGuard: { enabled: false },
        previews: { generation: 'automatic' },
      },
    })
    await parent.ask('/preview-values/MODE', { method: 'PUT', json: { value: 'preview' } })
    await until('its webhook is made', async () => (await gitea.ask<unknown[]>(ada, 'GET', '/repos/ada/shop/hooks')).length === 1)
  }, 240_000)
  afterAll(async () => {
    await platform?.close()
    await gitea?.close()
  })

  const previews = async () => (await parent.ask<{ preview: Preview }[]>('/previews')).body.map(({ preview }) => preview)
  const previewOf = async (number: number) => (await previews()).find((one) => one.number === number)
  const reaches = (number: number, status: Preview['status'], commitId?: string): Promise<Preview> =>
    until(`request ${number} is ${status}`, async () => {
      const preview = await previewOf(number)
      return preview?.status === status && (commitId === undefined || preview.commitId === commitId) && preview
    })
  const comments = (number: number) => gitea.ask<{ body: string }[]>(ada, 'GET', `/repos/ada/shop/issues/${number}/comments`)
  const saysAt = (number: number, words: string) =>
    until(`the comment says ${words}`, async () => {
      const found = await comments(number)
      return found.length === 1 && found[0]?.body.includes(words) && found[0].body
    })

  async function open(user: GiteaUser, branch: string): Promise<{ number: number; commit: string }> {
    const repository = `/repos/${user.name}/shop`
    await gitea.ask(user, 'POST', `${repository}/branches`, { new_branch_name: branch })
    const commit = await gitea.commit(user, 'shop', `${branch}.txt`, branch)
    const head = user === ada ? branch : `${user.name}:${branch}`
    const { number } = await gitea.ask<{ number: number }>(user, 'POST', '/repos/ada/shop/pulls', {
      head,
      base: 'main',
      title: `Add ${branch}`,
    })
    return { number, commit }
  }

  const close = (number: number) => gitea.ask(ada, 'PATCH', `/repos/ada/shop/pulls/${number}`, { state: 'closed' })

  function releaseOf(serviceId: string) {
    const service = serviceById(platform.context.db, serviceId)
    const deploy = service?.liveDeployId == null ? undefined : deployById(platform.context.db, service.liveDeployId)
    const { envVars, secretFiles } = releaseSecrets(platform.context, deploy?.releaseId ?? '')
    return { service, env: Object.fromEntries(envVars.map(({ key, value }) => [key, value])), files: secretFiles.map(({ name }) => name) }
  }

  test('from a branch get a service of their own, which a push deploys and a close removes', async () => {
    const { number, commit } = await open(ada, 'hats')
    const { service } = await reaches(number, 'live', commit)
    expect(service?.name).toBe(`shop-pr-${number}`)
    expect((await platform.visit(`shop-pr-${number}`)).status).toBe(200)
    const { env, files } = releaseOf(service?.id ?? '')
    expect(env).toMatchObject({ STRIPE_KEY: 'live key', MODE: 'preview' })
    expect(files).toEqual(['key.pem'])
    const shown = await call(`${platform.url}/v1/services/${service?.id}`, { token: platform.adminToken })
    expect(shown.body).toMatchObject({ autoDeploy: 'no', serviceDetails: { plan: 'free', parentServer: { id: parent.id, name: 'shop' } } })
    expect(await saysAt(number, 'The preview is live.')).toContain(service?.url)
    const statuses = () => gitea.ask<{ context: string; status: string }[]>(ada, 'GET', `/repos/ada/shop/commits/${commit}/statuses`)
    await until('its status says so', async () =>
      (await statuses()).some(({ context, status }) => context.startsWith(`cpd/shop-pr-${number}.localhost-`) && status === 'success'),
    )

    const next = await gitea.commit(ada, 'shop', 'more-hats.txt', 'hats')
    expect((await reaches(number, 'live', next)).service?.id).toBe(service?.id)
    await saysAt(number, next.slice(0, 8))

    await close(number)
    await until('it is removed', () => serviceById(platform.context.db, service?.id ?? '') === undefined)
    await saysAt(number, 'its preview is gone')
    expect((await platform.visit(`shop-pr-${number}`)).status).toBe(404)
  })

  test('from a fork are built when that very commit is approved, without secrets and in a network of their own', async () => {
    await gitea.ask(eve, 'POST', '/repos/ada/shop/forks', {})
    const { number, commit } = await open(eve, 'capes')
    await reaches(number, 'awaiting_approval', commit)
    await saysAt(number, 'comes from a fork')
    expect(await previewOf(number)).not.toHaveProperty('service')
    const approve = (commitId: string) => parent.ask<Preview>(`/previews/${number}/approve`, { json: { commitId } })
    expect((await approve('c'.repeat(40))).status).toBe(409)
    expect((await approve(commit)).status).toBe(200)
    const { service: made } = await reaches(number, 'live', commit)
    const { service, env, files } = releaseOf(made?.id ?? '')
    expect({ env, files }).toEqual({ env: { MODE: 'preview' }, files: [] })
    if (service === undefined) throw new Error('It is gone')
    expect(networkOf(platform.context.db, service)).toBe(service.id)

    const next = await gitea.commit(eve, 'shop', 'evil.txt', 'capes')
    await reaches(number, 'awaiting_approval', next)
    expect(await previewOf(number)).toMatchObject({ deployedCommitId: commit, approvedCommitId: commit })
    const byHand = await call(`${platform.url}/v1/services/${service.id}/deploys`, { json: { ref: next }, token: platform.adminToken })
    expect(byHand.status).toBe(409)
    await close(number)
    await until('it is removed', () => serviceById(platform.context.db, service.id) === undefined)
  })

  test('are found by a look where nobody told of them', async () => {
    const path = '/repos/ada/shop/hooks'
    const [hook] = await gitea.ask<{ id: number; events: string[] }[]>(ada, 'GET', path)
    const setActive = (active: boolean) => gitea.ask(ada, 'PATCH', `${path}/${hook?.id}`, { active, events: hook?.events })
    const look = async () => {
      const stored = serviceById(platform.context.db, parent.id)
      if (stored !== undefined) await lookAtRequests(platform.context, stored, platform.context.stopping)
    }
    await setActive(false)
    const { number, commit } = await open(ada, 'lost')
    await look()
    const { service } = await reaches(number, 'live', commit)
    await close(number)
    await look()
    await until('it is removed', () => serviceById(platform.context.db, service?.id ?? '') === undefined)
    await setActive(true)
  })

  test('get a preview where somebody asks for it, when previews are made by hand', async () => {
    await parent.ask('', { method: 'PATCH', json: { serviceDetails: { previews: { generation: 'manual' } } } })
    const { number, commit } = await open(ada, 'asked')
    await reaches(number, 'not_asked_for', commit)
    expect((await parent.ask('/previews', { json: { number } })).status).toBe(200)
    const { service } = await reaches(number, 'live', commit)
    expect((await parent.ask(`/previews/${number}`, { method: 'DELETE' })).status).toBe(204)
    await until('it is removed', () => serviceById(platform.context.db, service?.id ?? '') === undefined)
    expect(await previewOf(number)).toMatchObject({ status: 'not_asked_for' })
    await close(number)
  })

  test('go with the service whose they are', async () => {
    await parent.ask('', { method: 'PATCH', json: { serviceDetails: { previews: { generation: 'automatic' } } } })
    const { number } = await open(ada, 'last')
    const { service } = await reaches(number, 'live')
    await parent.ask('', { method: 'DELETE' })
    for (const id of [parent.id, service?.id ?? '']) await until('it is removed', () => serviceById(platform.context.db, id) === undefined)
  })
})
