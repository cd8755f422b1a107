import { readdirSync } from 'node:fs'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { lookAt } from '../../../../../server/apps/repositories/look-store.ts'
import { lookAtBranch } from '../../../../../server/apps/repositories/looks/look.ts'
import { serviceById } from '../../../../../server/apps/services/store.ts'
import type { Deploy } from '../../../../../shared/deploy.ts'
import type { DeployKey } from '../../../../../shared/deploy-key.ts'
import { allCommandLines, filesWith } from '../../../../security/data-files.ts'
import { anyApp, type GitWorld, startGitWorld } from '../../../../support/git-services.ts'
import type { TestService } from '../../../../support/service.ts'
import { filesOfSource } from '../../../../support/source-files.ts'
import { type SshServer, startSshServer } from '../../../../support/ssh-server.ts'

let world: GitWorld
let server: SshServer
beforeAll(async () => {
  world = await startGitWorld()
  server = await startSshServer()
})
afterAll(async () => {
  await world.close()
  await server.close()
})
beforeEach(() => server.letIn())

const keyOf = async (service: TestService): Promise<DeployKey> => (await service.ask<DeployKey>('/deploy-key')).body

/** A service of a new repository, which its key opens. */
async function made(name: string, body: Record<string, unknown> = { autoDeploy: 'no' }) {
  const repository = server.make(name)
  const commit = repository.commit(anyApp)
  const { service, deployId } = await world.make(repository.url, { branch: 'main', ...body })
  expect(deployId).toBeUndefined()
  server.letIn((await keyOf(service)).publicKey)
  return { repository, commit, service }
}

const hostName = () => `[localhost]:${server.port}`

async function look({ id }: TestService) {
  const { context } = world.platform
  const service = serviceById(context.db, id)
  if (service === undefined) throw new Error('It is gone.')
  await lookAtBranch(context, service, context.stopping)
  return known({ id })
}

function known({ id }: Pick<TestService, 'id'>) {
  const { db } = world.platform.context
  const labels = serviceById(db, id)?.labels
  return labels && lookAt(db, { serviceId: id, repository: labels.repo, branch: labels.branch })
}

test('a service is let in by its own key, and its deploy tells what the server is known by', async () => {
  const { commit, service } = await made('let-in')
  expect((await keyOf(service)).hostKeys).toEqual([])
  const deploy = await world.deploy(service)
  expect(deploy).toMatchObject({ status: 'live', commit: { id: commit } })
  expect((await keyOf(service)).hostKeys).toMatchObject([{ host: hostName(), fingerprint: server.fingerprint() }])
  const told = (await world.logOf(service, deploy.id)).filter((line) => line.includes('host key'))
  expect(told).toEqual([`==> The host key of ${hostName()} is ${server.fingerprint()}. Any other one is refused from now on.`])
  expect(readdirSync(world.platform.context.paths.fetches)).toEqual([])
})

test('its branch is looked at, and what is new there deploys', async () => {
  const { repository, commit, service } = await made('looked-at', {})
  expect(await look(service)).toMatchObject({ commitId: commit, problem: null })
  const next = repository.commit({ ...anyApp, next: 'yes' })
  expect(await look(service)).toMatchObject({ commitId: next })
  const { body } = await service.ask<{ deploy: Deploy }[]>('/deploys')
  expect(await service.ends(body[0]?.deploy.id ?? '')).toMatchObject({ status: 'live', commit: { id: next } })
})

test('looks that failed before the server had the key put off no look once a deploy was let in', async () => {
  const { service } = await made('early')
  server.letIn()
  expect(await look(service)).toMatchObject({
    failures: expect.any(Number),
    problem: expect.stringContaining('does not let the service in'),
  })
  server.letIn((await keyOf(service)).publicKey)
  await world.deploy(service)
  expect(known(service)?.nextAt).toBeLessThanOrEqual(Date.now())
  expect(await look(service)).toMatchObject({ failures: 0, problem: null })
})

test('a submodule beside it is let in by the same key', async () => {
  const { repository, service } = await made('outer')
  const commitId = server.make('inner').commit({ 'inner.txt': 'within' })
  repository.commit({ ...anyApp, '.gitmodules': '[submodule "inner"]\n\tpath = inner\n\turl = ../inner\n' })
  const entries = repository.git(['ls-tree', 'main']).split('\n')
  const tree = repository.git(['mktree', '--missing'], `${[...entries, `160000 commit ${commitId}\tinner`].join('\n')}\n`)
  repository.git(['update-ref', 'refs/heads/main', repository.git(['commit-tree', tree, '-m', 'With it'])])
  await service.ask('', { method: 'PATCH', json: { submodules: true } })
  const deploy = await world.deploy(service)
  expect(deploy).toMatchObject({ status: 'live' })
  expect(await filesOfSource(world.platform.context, deploy)).toMatchObject({ 'inner/inner.txt': 'within' })
})

test('the key of another service opens nothing, nor one that was replaced', async () => {
  const { service } = await made('own')
  const { service: other } = await world.make(server.make('own').url, { branch: 'main' })
  const { reason } = await world.deploy(other)
  expect(reason).toContain('or its server does not let the service in')
  expect(reason).toContain('cpctl services deploy-key')
  const before = await keyOf(service)
  const { body: rotated } = await service.ask<DeployKey>('/deploy-key/rotate', { method: 'POST' })
  expect(rotated.publicKey).not.toBe(before.publicKey)
  expect(await world.deploy(service)).toMatchObject({ status: 'build_failed' })
  server.letIn(rotated.publicKey)
  expect(await world.deploy(service)).toMatchObject({ status: 'live' })
})

test('a server that shows another key is gone no further with, until its key is forgotten', async () => {
  const { repository, service } = await made('changed')
  await world.deploy(service)
  repository.commit({ ...anyApp, more: 'yes' })
  await server.changeHostKey()
  const { reason } = await world.deploy(service)
  expect(reason).toContain('Its server shows another host key than when the service first came there')
  expect(reason).toContain('cpctl services deploy-key --forget-hosts')
  expect((await look(service))?.problem).toContain('another host key')
  expect((await service.ask('/deploy-key/host-keys', { method: 'DELETE' })).status).toBe(204)
  expect(await world.deploy(service)).toMatchObject({ status: 'live' })
  expect((await keyOf(service)).hostKeys).toMatchObject([{ fingerprint: server.fingerprint() }])
})

test('the private key stands in no file, log, error or command line, and goes with the fetch', async () => {
  const { service } = await made('secret')
  const seen = new Set<string>()
  const watch = setInterval(() => {
    for (const line of allCommandLines()) seen.add(line)
  }, 5)
  const { id } = await world.deploy(service)
  clearInterval(watch)
  expect([...seen].some((line) => line.startsWith('/usr/bin/ssh\0-F\0ssh_config'))).toBe(true)
  const told = [JSON.stringify(await keyOf(service)), ...(await world.logOf(service, id)), ...world.platform.logged, ...seen].join('\n')
  expect(told).not.toMatch(/PRIVATE KEY|b3BlbnNzaC1rZXktdjE/)
  expect(filesWith(world.platform.context.paths.data, ['OPENSSH PRIVATE KEY'], () => true)).toEqual([])
})

test.each([
  ['says what is no protocol', 'head -c 100000 /dev/zero | tr "\\\\0" x'],
  ['sends colours and hangs up', 'printf "\\\\033[31mred\\\\n" >&2; exit 1'],
  ['has no git', 'no-such-program-here'],
])('a server that %s fails the deploy in words', async (_, command) => {
  const { service } = await made('hostile')
  await server.answerWith(command)
  try {
    const { status, reason } = await world.deploy(service)
    expect(status).toBe('build_failed')
    expect(reason).toMatch(/could not be fetched\. Its server gave no answer|or its server does not let the service in/)
    expect(reason).not.toContain('\u001b')
  } finally {
    await server.answerWith(undefined)
  }
})
