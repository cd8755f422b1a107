import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { lookAt } from '../../../../server/apps/repositories/look-store.ts'
import { lookAtBranch } from '../../../../server/apps/repositories/looks/look.ts'
import { takePush } from '../../../../server/apps/repositories/push.ts'
import type { Push } from '../../../../server/apps/repositories/push-plan.ts'
import { serviceById } from '../../../../server/apps/services/store.ts'
import type { Deploy } from '../../../../shared/deploy.ts'
import type { Service } from '../../../../shared/service.ts'
import { anyApp, type GitWorld, startGitWorld } from '../../../support/git-services.ts'
import type { TestService } from '../../../support/service.ts'
import { until } from '../../../support/until.ts'

let world: GitWorld
beforeAll(async () => {
  world = await startGitWorld()
})
afterAll(() => world.close())

async function made(name: string, body: Record<string, unknown> = {}) {
  const repository = world.server.make(name)
  const commit = repository.commit(anyApp)
  const { service, deployId } = await world.make(repository.url, { branch: 'main', ...body })
  await service.ends(deployId)
  return { repository, commit, service }
}

const pushOf = (push: Pick<Push, 'urls' | 'commit'> & Partial<Push>): Push => ({
  workspaceId: undefined,
  branch: 'main',
  isDefaultBranch: true,
  message: 'Change',
  changedPaths: undefined,
  isDeleted: false,
  haveChecksPassed: false,
  ...push,
})

const take = (push: Push): boolean => world.platform.context.db.transaction(() => takePush(world.platform.context, push))()

const deploysOf = async (service: TestService): Promise<Deploy[]> =>
  (await service.ask<{ deploy: Deploy }[]>('/deploys')).body.map(({ deploy }) => deploy)

const told = async (service: TestService) =>
  (await service.events()).map(({ type }) => type).filter((type) => type.startsWith('repository_'))

async function look({ id }: TestService): Promise<number> {
  const { context } = world.platform
  const service = serviceById(context.db, id)
  if (service === undefined) throw new Error('It is gone.')
  return await lookAtBranch(context, service, context.stopping)
}

describe('a push', () => {
  test('deploys its commit once, by whichever spelling of the URL it is told', async () => {
    const { repository, service } = await made('pushed')
    const commit = repository.commit({ ...anyApp, two: '2' }, { message: 'Two' })
    const urls = [`${repository.url.toUpperCase().replace('HTTPS', 'https')}.git`]
    expect(take(pushOf({ urls, commit, message: 'Two' }))).toBe(true)
    expect(take(pushOf({ urls, commit, message: 'Two' }))).toBe(false)
    const [deploy] = await deploysOf(service)
    expect(deploy).toMatchObject({ trigger: 'new_commit', commit: { id: commit, message: 'Two' } })
    expect(await service.ends(deploy?.id ?? '')).toMatchObject({ status: 'live', commit: { id: commit, author: 'Ada' } })
    expect(await deploysOf(service)).toHaveLength(2)
  })

  test('that asks for it, or changes nothing that matters, is ignored, and an event says why', async () => {
    const { repository, service } = await made('ignored', { buildFilter: { paths: ['src/**'], ignoredPaths: ['**/*.md'] } })
    const urls = [repository.url]
    take(pushOf({ urls, commit: 'b'.repeat(40), message: 'Words [skip deploy]' }))
    take(pushOf({ urls, commit: 'c'.repeat(40), changedPaths: ['docs/a.txt', 'src/a.md'] }))
    take(pushOf({ urls, commit: '', isDeleted: true }))
    const events = (await service.events()).filter(({ type }) => type === 'commit_ignored' || type === 'branch_deleted')
    expect(events).toMatchObject([
      { type: 'commit_ignored', details: { commitId: 'b'.repeat(40), reason: 'Its message asks for it.' } },
      { type: 'commit_ignored', details: { reason: 'It changes nothing that the build filter lets through.' } },
      { type: 'branch_deleted', details: { branch: 'main' } },
    ])
    expect(await deploysOf(service)).toHaveLength(1)
  })

  test('of another workspace, branch or repository means nothing to a service', async () => {
    const { repository, service } = await made('foreign')
    const commit = 'd'.repeat(40)
    expect(take(pushOf({ urls: [repository.url], commit, workspaceId: 'tea-0' }))).toBe(false)
    expect(take(pushOf({ urls: [repository.url], commit, branch: 'other' }))).toBe(false)
    expect(take(pushOf({ urls: [`${repository.url}2`], commit }))).toBe(false)
    expect(await deploysOf(service)).toHaveLength(1)
  })
})

describe('a look at the branch', () => {
  test('deploys what nobody told of, also after a forced push, and nothing twice', async () => {
    const { repository, service } = await made('looked')
    await look(service)
    expect(await deploysOf(service)).toHaveLength(1)
    const next = repository.commit({ ...anyApp, next: 'yes' }, { message: 'Next' })
    await look(service)
    await look(service)
    const [deploy] = await deploysOf(service)
    expect(deploy).toMatchObject({ trigger: 'new_commit', commit: { id: next, message: 'Next' } })
    await service.ends(deploy?.id ?? '')
    repository.git(['update-ref', '-d', 'refs/heads/main'])
    const forced = repository.commit({ ...anyApp, forced: 'yes' }, { message: 'Anew [skip ci]' })
    await look(service)
    expect(await deploysOf(service)).toHaveLength(2)
    expect(await service.events()).toContainEqual({ type: 'commit_ignored', details: expect.objectContaining({ commitId: forced }) })
  })

  test('deploys nothing of what it saw before a push was told, and is made again', async () => {
    const { repository, commit, service } = await made('overtaken')
    const newer = 'e'.repeat(40)
    const looking = look(service)
    expect(take(pushOf({ urls: [repository.url], commit: newer }))).toBe(true)
    expect(await looking).toBeLessThanOrEqual(world.platform.context.now())
    expect((await deploysOf(service)).map((deploy) => deploy.commit?.id)).toEqual([newer, commit])
  })

  test('tells once that the branch is gone, and looks more and more seldom', async () => {
    const { repository, service } = await made('deleted')
    const { db, now } = world.platform.context
    repository.git(['update-ref', '-d', 'refs/heads/main'])
    const pauses: number[] = []
    for (let count = 0; count < 4; count += 1) pauses.push((await look(service)) - now())
    expect(pauses.at(-1)).toBeGreaterThan((pauses[0] ?? 0) * 3)
    expect((await service.events()).filter(({ type }) => type === 'branch_deleted')).toHaveLength(1)
    expect(lookAt(db, { serviceId: service.id, repository: repository.url, branch: 'main' })).toMatchObject({
      commitId: null,
      problem: 'The branch is not in the repository.',
    })
    const back = repository.commit({ ...anyApp, back: 'yes' })
    await look(service)
    const newest = await until('it is deployed', async () => (await deploysOf(service)).find(({ commit }) => commit?.id === back))
    await service.ends(newest.id)
  })

  test('at a repository that is gone keeps its last commit and says what is wrong', async () => {
    const { repository, commit, service } = await made('unreachable')
    await look(service)
    world.server.answer = () => new Response('no', { status: 404 })
    await look(service)
    world.server.answer = undefined
    const of = { serviceId: service.id, repository: repository.url, branch: 'main' }
    expect(lookAt(world.platform.context.db, of)).toMatchObject({
      commitId: commit,
      failures: 1,
      problem: expect.stringContaining('It is not there, or private'),
    })
    expect(await deploysOf(service)).toHaveLength(1)
  })

  test('at a repository that is not reached goes on to say so whatever is pushed, until one succeeds', async () => {
    const { repository, service } = await made('kept-out')
    const problemOf = async () => (await service.ask<Service>('')).body.repositoryState?.problem
    await look(service)
    world.server.answer = () => new Response('no', { status: 503 })
    await look(service)
    const problem = await problemOf()
    expect(problem?.message).toContain('no answer that can be used')
    const next = repository.commit({ ...anyApp, next: 'yes' })
    expect(take(pushOf({ urls: [repository.url], commit: next }))).toBe(true)
    const [failed] = await deploysOf(service)
    await service.ends(failed?.id ?? '')
    await look(service)
    await look(service)
    expect(await problemOf()).toEqual(problem)
    world.server.answer = undefined
    await world.deploy(service)
    await look(service)
    expect(await problemOf()).toBeUndefined()
    expect(await told(service)).toEqual(['repository_unreachable', 'repository_reachable'])
  })

  test('at another repository that the service has been given tells that it is reached again', async () => {
    const [lost, other] = [await made('lost'), world.server.make('given')]
    other.commit(anyApp)
    world.server.answer = () => new Response('no', { status: 503 })
    for (let looks = 0; looks < 2; looks += 1) await look(lost.service)
    await lost.service.ask('', { method: 'PATCH', json: { repo: other.url } })
    await look(lost.service)
    world.server.answer = undefined
    expect(await told(lost.service)).toEqual(['repository_unreachable'])
    await look(lost.service)
    expect(await told(lost.service)).toEqual(['repository_unreachable', 'repository_reachable'])
  })

  test('follows a redirect to another name on the same server, and none to elsewhere or to a page', async () => {
    const { repository, service } = await made('once')
    const renamed = world.server.make('now')
    const commit = renamed.commit({ ...anyApp, now: 'yes' })
    await look(service)
    const repoOf = async () => (await service.ask<Service>('')).body.repo
    const lead = (location: string) => {
      world.server.answer = () => new Response(null, { status: 301, headers: { location } })
    }
    for (const location of [
      'https://elsewhere.example.com/now/info/refs',
      '/login?next=/info/refs',
      '/-u%20x/info/refs',
      '/once/info/refs',
    ]) {
      lead(location)
      await look(service)
      expect(await repoOf()).toBe(repository.url)
    }
    lead('/now/info/refs?service=git-upload-pack')
    await look(service)
    world.server.answer = undefined
    expect(await repoOf()).toBe(renamed.url)
    await look(service)
    const deploy = await until('it is deployed', async () => (await deploysOf(service)).find((one) => one.commit?.id === commit))
    expect(await service.ends(deploy.id)).toMatchObject({ status: 'live' })
    expect(await service.events()).toContainEqual({ type: 'repository_renamed', details: { from: repository.url, to: renamed.url } })
  })

  test('goes after a server that leads in circles once in five minutes, also where the branch was never seen', async () => {
    const { service } = await made('round')
    world.platform.context.db.query('DELETE FROM branch_looks WHERE service_id = ?').run(service.id)
    world.server.answer = ({ url }) => {
      const location = `/${url.includes('/round/') ? 'about' : 'round'}/info/refs`
      return new Response(null, { status: 301, headers: { location } })
    }
    const began = Date.now()
    for (let looks = 0; looks < 3; looks += 1) await look(service)
    expect(await look(service)).toBeGreaterThan(began + 4 * 60_000)
    world.server.answer = undefined
    expect(await told(service)).toEqual(['repository_renamed'])
  })
})
