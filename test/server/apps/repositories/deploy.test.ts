import { readdirSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Deploy } from '../../../../shared/deploy.ts'
import { expectError } from '../../../conformance/expect-error.ts'
import { call } from '../../../support/client.ts'
import { anyApp, type GitWorld, startGitWorld } from '../../../support/git-services.ts'
import { filesOfSource } from '../../../support/source-files.ts'

let world: GitWorld
beforeAll(async () => {
  world = await startGitWorld()
})
afterAll(() => world.close())

const fetchesLeft = () => readdirSync(world.platform.context.paths.fetches)

describe('a service of a repository', () => {
  test('is deployed from its default branch when it is made, and its deploy tells the commit', async () => {
    const repository = world.server.make('first')
    const commit = repository.commit(anyApp, { message: 'Say hello\n\nAt length', author: 'Grace' })
    const { service, deployId } = await world.make(repository.url)
    expect(await service.ends(deployId)).toMatchObject({
      status: 'live',
      trigger: 'api',
      commit: { id: commit, message: 'Say hello\n\nAt length', author: 'Grace', createdAt: '2026-01-02T03:04:05.000Z' },
      source: { id: expect.stringMatching(/^src-/) },
    })
    const log = await world.logOf(service, deployId)
    expect(log.slice(0, 2)).toEqual([`==> Fetching the default branch of ${repository.url}`, `==> Deploying commit ${commit}: Say hello`])
    const { body } = await service.ask('')
    expect(body).toMatchObject({ repo: repository.url, autoDeploy: 'yes', autoDeployTrigger: 'commit' })
    expect(fetchesLeft()).toEqual([])
  })

  test('is deployed from its branch, and from any branch, tag or commit that is asked for', async () => {
    const repository = world.server.make('refs')
    const main = repository.commit(anyApp)
    const next = repository.commit({ ...anyApp, next: 'yes' }, { branch: 'next/1' })
    repository.git(['tag', '--annotate', '-m', 'One', 'v1', main])
    const { service, deployId } = await world.make(repository.url, { branch: 'next/1' })
    expect(await service.ends(deployId)).toMatchObject({ status: 'live', commit: { id: next } })
    expect(await world.deploy(service, { ref: 'main' })).toMatchObject({ status: 'live', ref: 'main', commit: { id: main } })
    expect(await world.deploy(service, { ref: 'v1' })).toMatchObject({ status: 'live', commit: { id: main } })
    expect(await world.deploy(service, { commitId: next })).toMatchObject({ status: 'live', commit: { id: next } })
    const hook = await service.ask<{ url: string }>('/deploy-hook')
    const { pathname } = new URL(hook.body.url)
    const called = await call<{ deploy: { id: string } }>(`${world.platform.url}${pathname}?ref=main`, { method: 'POST' })
    expect(await service.ends(called.body.deploy.id)).toMatchObject({ trigger: 'deploy_hook', commit: { id: main } })
  })

  test('is not fetched again for a commit that is kept, and a rollback tells the commit it goes back to', async () => {
    const repository = world.server.make('again')
    const first = repository.commit(anyApp)
    const { service, deployId } = await world.make(repository.url)
    const { source } = await service.ends(deployId)
    const fetches = world.server.fetches
    expect(await world.deploy(service)).toMatchObject({ status: 'live', source: { id: source?.id }, commit: { id: first } })
    expect(world.server.fetches - fetches).toBeLessThanOrEqual(1)
    repository.commit({ ...anyApp, more: 'yes' })
    expect(await world.deploy(service)).toMatchObject({ status: 'live' })
    const back = await service.ask<Deploy>('/rollback', { json: {} })
    expect(back.body).toMatchObject({ trigger: 'rollback', commit: { id: first } })
    await service.ends(back.body.id)
  })

  test('keeps its files as they are committed, whatever the attributes of the repository say', async () => {
    const repository = world.server.make('attributes')
    repository.commit({
      ...anyApp,
      '.gitattributes': '* export-subst text eol=crlf ident filter=lfs\nsecret export-ignore\n',
      secret: 'kept\n',
      words: '$Id$ $Format:%H$\n',
      '.gitmodules': '[submodule "x"]\n\tpath = x\n\turl = ext::sh -c touch% /tmp/cpd-canary\n',
    })
    const { service, deployId } = await world.make(repository.url)
    const deploy = await service.ends(deployId)
    expect(deploy).toMatchObject({ status: 'live' })
    expect(await filesOfSource(world.platform.context, deploy)).toMatchObject({ secret: 'kept\n', words: '$Id$ $Format:%H$\n' })
    const log = await world.logOf(service, deployId)
    expect(log).toContainEqual(expect.stringContaining('Submodules are not fetched'))
    expect(log).toContainEqual(expect.stringContaining('Files of Git LFS are not fetched'))
  })

  test('is given another by a change, which does not deploy, and none again', async () => {
    const [one, other] = [world.server.make('one'), world.server.make('other')]
    one.commit(anyApp)
    const commit = other.commit({ ...anyApp, other: 'yes' })
    const { service, deployId } = await world.make(one.url, { autoDeploy: 'no' })
    const { source } = await service.ends(deployId)
    const changed = await service.ask('', { method: 'PATCH', json: { repo: other.url, branch: 'main' } })
    expect(changed.body).toMatchObject({ repo: other.url, branch: 'main', autoDeploy: 'no' })
    expect((await service.ask<unknown[]>('/deploys')).body).toHaveLength(1)
    expect(await world.deploy(service)).toMatchObject({ status: 'live', commit: { id: commit } })
    await service.ask('', { method: 'PATCH', json: { repo: '' } })
    expect(await world.deploy(service)).toMatchObject({ status: 'live', commit: { id: commit } })
    expect((await service.deploy(deployId)).source).toEqual(source)
  })
})

describe('a ref is refused', () => {
  test.each([
    [{ ref: '--upload-pack=touch' }, '/ref'],
    [{ ref: 'a..b' }, '/ref'],
    [{ commitId: 'a b' }, '/commitId'],
    [{ ref: 'main', deployMode: 'deploy_only' }, '/ref'],
    [{ ref: 'main', commitId: 'a'.repeat(40) }, '/commitId'],
  ])('as %j', async (json, pointer) => {
    const repository = world.server.make('refused')
    const { service } = await world.make(repository.url)
    const reply = await service.ask('/deploys', { json })
    expect(reply.status).toBe(400)
    expect(JSON.stringify(reply.body)).toContain(pointer)
  })

  test('where the service has no repository', async () => {
    const { service } = await world.make('')
    expectError(await service.ask('/deploys', { json: { ref: 'main' } }), 'validation_failed')
  })
})
