import { readdirSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { allCommandLines, filesWith } from '../../../security/data-files.ts'
import { anyApp, type GitWorld, startGitWorld } from '../../../support/git-services.ts'

let world: GitWorld
beforeAll(async () => {
  world = await startGitWorld()
})
afterAll(() => world.close())

/** How the first deploy of a service of this repository ends. */
async function failure(repo: string, body: Record<string, unknown> = {}): Promise<string | undefined> {
  const { service, deployId } = await world.make(repo, body)
  const { status, reason } = await service.ends(deployId)
  expect(status).toBe('build_failed')
  return reason
}

test('a branch, a commit and a repository that are not there are named, with what to do', async () => {
  const repository = world.server.make('there')
  repository.commit(anyApp)
  expect(await failure(repository.url, { branch: 'gone' })).toBe(
    `${repository.url} has no branch or tag gone; it may have been renamed or deleted. A commit is named by its whole id.`,
  )
  expect(await failure(world.server.make('empty').url)).toBe(`${world.server.url}/empty has no commit yet. Push one, then deploy again.`)
  expect(await failure(`${world.server.url}/nowhere`)).toContain('It is not there, or private')
  const { service, deployId } = await world.make(repository.url)
  await service.ends(deployId)
  const pushedOver = await world.deploy(service, { commitId: 'a'.repeat(40) })
  expect(pushedOver).toMatchObject({ status: 'build_failed', reason: expect.stringContaining('The commit is not in it, or no longer') })
})

test('redirects that lead on and on are not followed, and a server that fails is told from a repository that is not there', async () => {
  const repository = world.server.make('moved')
  repository.commit(anyApp)
  world.server.answer = () => new Response(null, { status: 301, headers: { location: `${world.server.url}/elsewhere/info/refs` } })
  expect(await failure(repository.url)).toContain('It has moved, and redirects are not followed.')
  world.server.answer = () => new Response('no', { status: 503 })
  expect(await failure(repository.url)).toContain('Its server gave no answer that can be used.')
  world.server.answer = () => new Response('\u001b[31mred', { headers: { 'content-type': 'application/x-git-upload-pack-advertisement' } })
  expect(await failure(repository.url)).not.toContain('\u001b')
  world.server.answer = undefined
})

test('a token lets git in, and stands in no log, error, command line or file, also where the server sends it back', async () => {
  const token = 'pLaNtEd-token-7f31'
  const basic = Buffer.from(`git:${token}`).toString('base64')
  world.credentials.push(async ({ url }) => (url.includes('/private') ? { kind: 'token', username: 'git', token } : undefined))
  const repository = world.server.make('private')
  repository.commit(anyApp)
  world.server.private.set('private', `git:${token}`)
  const seen = new Set<string>()
  const watch = setInterval(() => {
    for (const line of allCommandLines()) seen.add(line)
  }, 5)
  const { service, deployId } = await world.make(repository.url)
  const live = await service.ends(deployId)
  clearInterval(watch)
  expect(live).toMatchObject({ status: 'live' })
  expect(world.server.authorizations.at(-1)).toBe(`Basic ${basic}`)

  world.server.private.set('private', 'git:another')
  world.server.answer = () => new Response(`${token} ${basic}`, { status: 403, headers: { 'content-type': 'text/plain' } })
  const { reason } = await world.deploy(service)
  world.server.answer = undefined
  expect(reason).toContain('It is not there, or private')
  const told = [reason ?? '', ...(await world.logOf(service, deployId)), ...world.platform.logged, ...seen].join('\n')
  for (const secret of [token, basic]) expect(told).not.toContain(secret)
  expect([...seen].some((line) => line.includes('ls-remote') || line.includes('fetch'))).toBe(true)
  expect(filesWith(world.platform.context.paths.data, [token, basic], () => true)).toEqual([])
})

test('a token that ends in the middle of a fetch fails the deploy in words, and the next deploy asks for another', async () => {
  const tokens = ['ending-1', 'fresh-2']
  world.credentials.push(async ({ url }) =>
    url.includes('/ending') ? { kind: 'token', username: 'git', token: tokens.shift() ?? 'none' } : undefined,
  )
  const repository = world.server.make('ending')
  const commit = repository.commit(anyApp)
  world.server.private.set('ending', 'git:ending-1')
  const asked: string[] = []
  world.server.answer = ({ url }) => {
    asked.push(new URL(url).pathname.replace('/ending/', ''))
    // The branch was asked for; its pack is what the token no longer opens.
    if (asked.length === 4) world.server.private.set('ending', 'git:fresh-2')
    return undefined
  }
  const { service, deployId } = await world.make(repository.url, { branch: 'main' })
  const ended = await service.ends(deployId)
  world.server.answer = undefined
  // The last one asks where the repository is now, with no token.
  expect(asked).toEqual(['info/refs', 'git-upload-pack', 'info/refs', 'git-upload-pack', 'info/refs'])
  expect(ended).toMatchObject({ status: 'build_failed', reason: expect.stringContaining('It is not there, or private') })
  expect(ended.reason).not.toContain('ending-1')
  expect(readdirSync(world.platform.context.paths.fetches)).toEqual([])
  expect(await world.deploy(service)).toMatchObject({ status: 'live', commit: { id: commit } })
})

test('a credential goes to its own repository alone', async () => {
  const open = world.server.make('open')
  open.commit(anyApp)
  const before = world.server.authorizations.length
  const { service, deployId } = await world.make(open.url)
  await service.ends(deployId)
  expect(world.server.authorizations.slice(before).every((authorization) => authorization === undefined)).toBe(true)
})
