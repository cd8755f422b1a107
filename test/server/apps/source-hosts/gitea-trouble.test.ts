import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newestOfDeployLog } from '../../../../server/apps/deploys/deploy-log.ts'
import { lookAtBranch } from '../../../../server/apps/repositories/looks/look.ts'
import { serviceById } from '../../../../server/apps/services/store.ts'
import type { Deploy } from '../../../../shared/deploy.ts'
import type { Service } from '../../../../shared/service.ts'
import type { SourceHostInstallation, SourceHostStatus } from '../../../../shared/source-host.ts'
import { call } from '../../../support/client.ts'
import { type FakePlatform, startFakePlatform } from '../../../support/fake-platform.ts'
import { freePorts } from '../../../support/free-ports.ts'
import { type Developer, newDeveloper } from '../../../support/git.ts'
import { anyApp } from '../../../support/git-services.ts'
import { type Gitea, type GiteaUser, startGitea } from '../../../support/gitea.ts'
import { makeService, type TestService } from '../../../support/service.ts'
import { until } from '../../../support/until.ts'

describe('what befalls a repository of a Gitea', () => {
  let gitea: Gitea
  let platform: FakePlatform
  let ada: GiteaUser
  let developer: Developer

  beforeAll(async () => {
    gitea = await startGitea()
    developer = newDeveloper()
    const [port = 0] = freePorts(1)
    const [CP_LISTEN, CP_PUBLIC_URL] = [`127.0.0.1:${port}`, `http://127.0.0.1:${port}`]
    platform = await startFakePlatform({ CP_LISTEN, CP_PUBLIC_URL, CP_GITEA_URL: gitea.url, CP_GITEA_CA_FILE: gitea.caFile }, { speed: 15 })
    ada = await gitea.addUser('ada')
    await api('/v1/gitea/installations', { json: { token: ada.token } })
  }, 240_000)
  afterAll(async () => {
    await platform?.close()
    await gitea?.close()
    developer?.leave()
  })

  const api = <T = Record<string, unknown>>(path: string, options: { method?: string; json?: unknown } = {}) =>
    call<T>(platform.url + path, { ...options, token: platform.adminToken })

  /** A service of a new repository, live, whose webhook is made. */
  async function follow(name: string) {
    await gitea.addRepository(ada, name)
    for (const file of ['package.json', 'server.js']) await gitea.commit(ada, name, file)
    const serviceDetails = { envSpecificDetails: { startCommand: 'serve' }, maxShutdownDelaySeconds: 1, cutoverGuard: { enabled: false } }
    const repo = `${gitea.url}/ada/${name}`
    const service = await makeService(platform, { type: 'background_worker', name, repo, branch: 'main', serviceDetails })
    const [first] = await deploysOf(service)
    await service.ends(first?.id ?? '')
    await until('its webhook is made', async () => (await gitea.ask<unknown[]>(ada, 'GET', `/repos/ada/${name}/hooks`)).length === 1)
    return service
  }

  const deploysOf = async (service: TestService): Promise<Deploy[]> =>
    (await service.ask<{ deploy: Deploy }[]>('/deploys')).body.map(({ deploy }) => deploy)

  async function look({ id }: TestService) {
    const { context } = platform
    const stored = serviceById(context.db, id)
    if (stored === undefined) throw new Error('It is gone')
    await lookAtBranch(context, stored, context.stopping)
  }

  const stateOf = async (service: TestService) => (await service.ask<Service>('')).body.repositoryState
  const told = async (service: TestService) => (await service.events()).filter(({ type }) => type.startsWith('repository_'))

  const statusOf = async (name: string, commit: string) =>
    (
      await gitea.ask<{ statuses: { context: string; status: string }[] | null }>(ada, 'GET', `/repos/ada/${name}/commits/${commit}/status`)
    ).statuses?.find(({ context }) => context.startsWith(`cpd/${name}.localhost-`))?.status

  test('a branch that is pushed over is deployed as it is then, and the commit before it is not missed', async () => {
    const service = await follow('forced')
    const dir = await developer.begin('forced', { ...anyApp, forced: 'yes' }, 'Anew')
    const commit = (await developer.run(dir, 'rev-parse', 'HEAD')).stdout.trim()
    const pushed = await developer.runWith(
      ada.token,
      dir,
      ...['-c', `http.sslCAInfo=${gitea.caFile}`, 'push', '--force', `${gitea.url}/ada/forced.git`, 'main'],
    )
    expect(pushed.stderr).toContain('forced update')
    const deploy = await until('it is deployed', async () => (await deploysOf(service)).find((one) => one.commit?.id === commit))
    expect(await service.ends(deploy.id)).toMatchObject({ status: 'live', commit: { message: 'Anew' } })
    await until('it is told', async () => (await statusOf('forced', commit)) === 'success')
  })

  test('one that was renamed is followed by a look, and told once', async () => {
    const service = await follow('before')
    await gitea.ask(ada, 'PATCH', '/repos/ada/before', { name: 'after' })
    await look(service)
    const repo = `${gitea.url}/ada/after`
    const { body } = await service.ask<Service>('')
    expect(body.repo).toBe(repo)
    await look(service)
    expect(await stateOf(service)).toBeUndefined()
    expect(await told(service)).toEqual([{ type: 'repository_renamed', details: { from: `${gitea.url}/ada/before`, to: repo } }])
    const urlOfHook = async () =>
      (await gitea.ask<{ config: { url: string } }[]>(ada, 'GET', '/repos/ada/after/hooks')).map(({ config }) => config.url)
    await until('it has the webhook of its new name alone', async () => {
      const [url, ...others] = await urlOfHook()
      return others.length === 0 && url?.includes('repo=ada%2Fafter')
    })
    const commit = await gitea.commit(ada, 'after', 'moved.txt')
    await until('it is deployed', async () => (await deploysOf(service)).some((one) => one.commit?.id === commit))
  })

  test('one that was renamed is followed by a deploy, whose log says so', async () => {
    const service = await follow('old')
    await gitea.ask(ada, 'PATCH', '/repos/ada/old', { name: 'new' })
    const { body } = await service.ask<Deploy>('/deploys', { json: {} })
    expect(await service.ends(body.id)).toMatchObject({ status: 'live' })
    const lines = (await newestOfDeployLog(platform.context, { id: body.id, serviceId: service.id }, 100)).map(({ message }) => message)
    expect(lines.filter((line) => line.includes('Fetching'))).toEqual([
      expect.stringContaining('/ada/old'),
      expect.stringContaining('/ada/new'),
    ])
    expect((await told(service)).map(({ type }) => type)).toEqual(['repository_renamed'])
  })

  test('one that was deleted leaves what runs, which is told once, and again when it is back', async () => {
    const service = await follow('deleted')
    const [live] = await deploysOf(service)
    await gitea.ask(ada, 'DELETE', '/repos/ada/deleted')
    await look(service)
    const first = await stateOf(service)
    expect(first?.problem).toMatchObject({ message: expect.stringContaining('ada/deleted: Gitea does not have it') })
    expect(await told(service)).toEqual([])
    for (let looks = 0; looks < 3; looks += 1) await look(service)
    expect((await stateOf(service))?.problem).toEqual(first?.problem)
    expect(await told(service)).toEqual([
      { type: 'repository_unreachable', details: { repository: `${gitea.url}/ada/deleted`, reason: first?.problem?.message } },
    ])
    const { body } = await service.ask<Deploy>('/deploys', { json: {} })
    expect(await service.ends(body.id)).toMatchObject({ status: 'build_failed', reason: first?.problem?.message })
    expect(await service.deploy(live?.id ?? '')).toMatchObject({ status: 'live' })
    await gitea.addRepository(ada, 'deleted')
    await look(service)
    expect(await stateOf(service)).toBeUndefined()
    expect((await told(service)).map(({ type }) => type)).toEqual(['repository_unreachable', 'repository_reachable'])
  })

  test('one of somebody else is told while it is private, and is not once it is public', async () => {
    const bob = await gitea.addUser('bob')
    await gitea.addRepository(bob, 'shy')
    const repo = `${gitea.url}/bob/shy`
    const service = await makeService(platform, { type: 'background_worker', name: 'shy', repo, branch: 'main' })
    await look(service)
    expect((await stateOf(service))?.problem?.message).toContain('Let the connected account into it')
    await gitea.ask(bob, 'PATCH', '/repos/bob/shy', { private: false })
    await look(service)
    expect(await stateOf(service)).toBeUndefined()
  })

  test('a token that is taken back in mid life is told, and all goes on with the next one', async () => {
    const service = await follow('revoked')
    const tokens = await gitea.ask<{ id: number }[]>(ada, 'GET', '/users/ada/tokens')
    for (const { id } of tokens) await gitea.ask(ada, 'DELETE', `/users/ada/tokens/${id}`)
    const commit = await gitea.commit(ada, 'revoked', 'late.txt')
    const deploy = await until('its deploy has begun', async () => (await deploysOf(service)).find((one) => one.commit?.id === commit))
    expect(await service.ends(deploy.id)).toMatchObject({
      status: 'build_failed',
      reason: expect.stringContaining('cpctl sourcehost connect'),
    })
    const problem = async () => (await api<SourceHostStatus>('/v1/gitea/status')).body.installations[0]?.problem
    await until('it is told', async () => (await problem())?.includes('no longer lets us in'))
    await look(service)
    expect((await stateOf(service))?.problem?.message).toBe(
      'ada/revoked: Gitea no longer lets us in. Connect the account anew: cpctl sourcehost connect.',
    )
    const { sha1 } = await gitea.ask<{ sha1: string }>(ada, 'POST', '/users/ada/tokens', {
      name: 'next',
      scopes: ['read:user', 'write:repository', 'write:issue'],
    })
    await api<SourceHostInstallation>('/v1/gitea/installations', { json: { token: sha1 } })
    await until('it is looked at by itself', async () => (await stateOf(service)) === undefined)
    const next = await gitea.commit(ada, 'revoked', 'next.txt')
    await until('it is told', async () => (await statusOf('revoked', next)) === 'success')
    expect(await statusOf('revoked', commit)).not.toBe('success')
    await until('that is told no more', async () => !(await problem())?.includes('no longer lets us in'))
  })
})
