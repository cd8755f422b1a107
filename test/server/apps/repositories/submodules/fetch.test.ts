import { existsSync, readdirSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TestRepository } from '../../../../support/git-server.ts'
import { anyApp, type GitWorld, startGitWorld } from '../../../../support/git-services.ts'
import { filesOfSource } from '../../../../support/source-files.ts'

let world: GitWorld
beforeAll(async () => {
  world = await startGitWorld()
})
afterAll(() => world.close())

/** Commits an app with these submodules, by their paths; gives the commit's id. */
function commitWith(
  repository: TestRepository,
  submodules: Record<string, { url: string; commitId: string }>,
  more: Record<string, string> = {},
) {
  const modules = Object.entries(submodules).map(([path, { url }]) => `[submodule "${path}"]\n\tpath = ${path}\n\turl = ${url}\n`)
  repository.commit({ ...anyApp, ...more, '.gitmodules': modules.join('') })
  const entries = repository.git(['ls-tree', 'main']).split('\n')
  const links = Object.entries(submodules).map(([path, { commitId }]) => `160000 commit ${commitId}\t${path}`)
  const tree = repository.git(['mktree', '--missing'], `${[...entries, ...links].join('\n')}\n`)
  const id = repository.git(['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', 'commit-tree', tree, '-m', 'With submodules'])
  repository.git(['update-ref', 'refs/heads/main', id])
  return id
}

async function deployed(repository: TestRepository, body: Record<string, unknown> = {}) {
  const { service, deployId } = await world.make(repository.url, { branch: 'main', submodules: true, ...body })
  const deploy = await service.ends(deployId)
  return { service, deploy, log: await world.logOf(service, deployId) }
}

const filesLeft = () => readdirSync(world.platform.context.paths.fetches)

test('files of submodules, and of theirs, are deployed where they stand, and the log names them', async () => {
  const [inner, lib, app] = ['inner', 'lib', 'app'].map((name) => world.server.make(name)) as [
    TestRepository,
    TestRepository,
    TestRepository,
  ]
  const innerId = inner.commit({ 'inner.txt': 'within', [`${'deep/'.repeat(30)}long.txt`]: 'long' })
  const libId = commitWith(lib, { inner: { url: '../inner', commitId: innerId } }, { 'lib.txt': 'library', 'zeros.bin': '\0'.repeat(3000) })
  commitWith(app, { lib: { url: '../lib', commitId: libId } })
  const { service, deploy, log } = await deployed(app)
  expect(deploy).toMatchObject({ status: 'live' })
  const files = await filesOfSource(world.platform.context, deploy)
  expect(files).toMatchObject({ 'lib/lib.txt': 'library', 'lib/inner/inner.txt': 'within', 'package.json': anyApp['package.json'] })
  expect(files['lib/zeros.bin']).toHaveLength(3000)
  expect(files[`lib/inner/${'deep/'.repeat(30)}long.txt`]).toBe('long')
  expect(log).toContain(`==> Fetching the submodule lib/inner of ${world.server.url}/inner`)
  expect((await service.ask('')).body).toMatchObject({ submodules: true })
  expect(filesLeft()).toEqual([])
})

test('without being asked for they stay empty folders, and are had after a change without a new commit', async () => {
  const [lib, app] = [world.server.make('later-lib'), world.server.make('later')]
  commitWith(app, { lib: { url: '../later-lib', commitId: lib.commit({ 'lib.txt': 'library' }) } })
  const { service, deploy, log } = await deployed(app, { submodules: false })
  expect(log).toContainEqual(expect.stringContaining('cpctl services update --submodules'))
  expect(await filesOfSource(world.platform.context, deploy)).not.toHaveProperty('lib/lib.txt')
  await service.ask('', { method: 'PATCH', json: { submodules: true } })
  expect(await filesOfSource(world.platform.context, await world.deploy(service))).toMatchObject({ 'lib/lib.txt': 'library' })
})

test('each repository gets what is for it, and no other', async () => {
  const [lib, app] = [world.server.make('private-lib'), world.server.make('public-app')]
  world.credentials.push(async ({ url }) =>
    url.endsWith('/private-lib') ? { kind: 'token', username: 'git', token: 'for-lib' } : undefined,
  )
  world.server.private.set('private-lib', 'git:for-lib')
  commitWith(app, { lib: { url: `${world.server.url}/private-lib`, commitId: lib.commit({ 'lib.txt': 'library' }) } })
  const asked: [string, string | undefined][] = []
  world.server.answer = (request) => {
    asked.push([new URL(request.url).pathname.split('/')[1] ?? '', request.headers.get('authorization') ?? undefined])
    return undefined
  }
  const { deploy } = await deployed(app)
  world.server.answer = undefined
  expect(deploy).toMatchObject({ status: 'live' })
  const told = (name: string) => new Set(asked.flatMap(([repository, word]) => (repository === name ? [word] : [])))
  expect([...told('public-app')]).toEqual([undefined])
  expect([...told('private-lib')]).toEqual([`Basic ${btoa('git:for-lib')}`])
})

test.each(['ext::sh -c touch% /tmp/cpd-canary-submodule', 'file:///etc', '-utouch', 'git@localhost:a/b', 'https://127.0.0.1:1/a/b'])(
  'one at %s fails the deploy in words, and nothing is left',
  async (url) => {
    const app = world.server.make(`hostile-${Buffer.from(url).toString('hex').slice(-12)}`)
    commitWith(app, { lib: { url, commitId: 'a'.repeat(40) } })
    const { deploy } = await deployed(app)
    expect(deploy.status).toBe('build_failed')
    expect(deploy.reason).toMatch(/The submodule lib is at|could not be fetched/)
    expect(existsSync('/tmp/cpd-canary-submodule')).toBe(false)
    expect(filesLeft()).toEqual([])
  },
)

test('more than are taken, or one within the other without end, fail the deploy in words', async () => {
  const lib = world.server.make('many-lib')
  const commitId = lib.commit({ 'lib.txt': 'library' })
  const many = world.server.make('many')
  commitWith(many, Object.fromEntries(Array.from({ length: 51 }, (_, at) => [`lib-${at}`, { url: '../many-lib', commitId }])))
  expect((await deployed(many)).deploy.reason).toContain('It has more than 50 submodules')
  const nested = world.server.make('nested')
  let innermost = nested.commit({ 'a.txt': '0' })
  for (let level = 0; level < 6; level++) innermost = commitWith(nested, { in: { url: '../nested', commitId: innermost } })
  expect((await deployed(nested)).deploy.reason).toContain('submodules')
  expect(filesLeft()).toEqual([])
})
