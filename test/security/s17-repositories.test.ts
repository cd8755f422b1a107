import { existsSync, readdirSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { servicePathsOf } from '../../server/platform/paths.ts'
import type { TestRepository } from '../support/git-server.ts'
import { anyApp, type GitWorld, startGitWorld } from '../support/git-services.ts'
import { everythingIn } from './data-files.ts'

let world: GitWorld
beforeAll(async () => {
  world = await startGitWorld({ CP_SOURCE_MAX_MB: '40', CP_UPLOAD_MAX_MB: '4' })
})
afterAll(() => world.close())

const canary = `/tmp/cpd-test-canary-${process.pid}`
const MIB = 1024 * 1024

const blob = (repository: TestRepository, content: string | Uint8Array): string =>
  repository.git(['hash-object', '-t', 'blob', '-w', '--stdin'], content)

/** A tree of any names, which no well-behaved git would make. */
function tree(repository: TestRepository, entries: readonly [mode: string, name: string, id: string][]): string {
  const bytes = entries.map(([mode, name, id]) => Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(id, 'hex')]))
  return repository.git(['hash-object', '-t', 'tree', '-w', '--literally', '--stdin'], Buffer.concat(bytes))
}

/** A tree within a tree, each as wide as the last, `levels` deep. */
function wide(repository: TestRepository, { width, levels }: { width: number; levels: number }): string {
  const names = Array.from({ length: width }, (_, index) => `n${String(index).padStart(4, '0')}`)
  const file = blob(repository, 'x')
  let id = tree(
    repository,
    names.map((name) => ['100644', name, file]),
  )
  for (let level = 1; level < levels; level += 1) {
    const below = id
    id = tree(
      repository,
      names.map((name) => ['40000', name, below]),
    )
  }
  return id
}

type Hostile = (repository: TestRepository) => string

/** What makes the root tree of a hostile commit, and what its deploy says. */
const hostile: [what: string, root: Hostile, reason: RegExp][] = [
  ['a symbolic link to an absolute path', (r) => tree(r, [['120000', 'out', blob(r, '/etc/shadow')]]), /"out"/],
  ['a symbolic link that climbs', (r) => tree(r, [['120000', 'out', blob(r, `${'../'.repeat(12)}etc`)]]), /"out"/],
  ['a name that climbs', (r) => tree(r, [['100644', '../../canary', blob(r, 'x')]]), /damaged|cannot be deployed/],
  ['a folder ".."', (r) => tree(r, [['40000', '..', tree(r, [['100644', 'canary', blob(r, 'x')]])]]), /damaged/],
  ['a folder ".git"', (r) => tree(r, [['40000', '.git', tree(r, [['100644', 'config', blob(r, 'x')]])]]), /damaged/],
  ['an absolute name', (r) => tree(r, [['100644', canary, blob(r, 'x')]]), /damaged|cannot be deployed/],
  ['control characters in a name', (r) => tree(r, [['100644', 'a\u001b[2Jb', blob(r, 'x')]]), /control character/],
  [
    'the same name twice',
    (r) =>
      tree(r, [
        ['100644', 'a', blob(r, '1')],
        ['100644', 'a', blob(r, '2')],
      ]),
    /damaged|cannot be deployed/,
  ],
  ['a file that expands', (r) => tree(r, [['100644', 'zeros', blob(r, new Uint8Array(64 * MIB))]]), /cannot be deployed|larger/],
  ['a million files in three objects', (r) => wide(r, { width: 1000, levels: 2 }), /cannot be deployed/],
  ['ten thousand million files in a few objects', (r) => wide(r, { width: 100, levels: 5 }), /larger than this server takes/],
  ['three hundred folders in each other', (r) => wide(r, { width: 1, levels: 300 }), /deeper than/],
  [
    'a submodule whose URL is an option',
    (r) => tree(r, [['100644', '.gitmodules', blob(r, `[submodule "x"]\n\tpath = x\n\turl = -u./touch ${canary}\n`)]]),
    /damaged/,
  ],
]

describe('S17: a repository', () => {
  test.each(hostile)('with %s fails its deploy, nothing is written outside and nothing is left behind', async (_, root, reason) => {
    const repository = world.server.make(crypto.randomUUID())
    const commit = repository.git(['commit-tree', root(repository), '-m', 'Look at this'])
    repository.git(['update-ref', 'refs/heads/main', commit])
    const { service, deployId } = await world.make(repository.url)
    const deploy = await service.ends(deployId)
    expect(deploy).toMatchObject({ status: 'build_failed', reason: expect.stringMatching(reason) })
    const { paths } = world.platform.context
    expect(deploy.reason).not.toContain(paths.data)
    expect(existsSync(canary)).toBe(false)
    expect([...readdirSync(paths.fetches), ...readdirSync(paths.uploads)]).toEqual([])
    const { root: own } = servicePathsOf(paths, service.id)
    expect(existsSync(own) ? everythingIn(own).filter((entry) => entry.isFile()) : []).toEqual([])
  })

  test.each(['ext::sh -c touch% /tmp/x', 'file:///etc', '../../../etc', 'ssh://-oProxyCommand=touch/x'])(
    'whose submodule is at %s is deployed without it',
    async (url) => {
      const repository = world.server.make(crypto.randomUUID())
      repository.commit({ ...anyApp, '.gitmodules': `[submodule "x"]\n\tpath = x\n\turl = ${url}\n` })
      const { service, deployId } = await world.make(repository.url)
      expect(await service.ends(deployId)).toMatchObject({ status: 'live' })
    },
  )
})
