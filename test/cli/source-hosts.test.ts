import { describe, expect, test } from 'vitest'
import { AppError } from '../../shared/error.ts'
import type { Repository, SourceHostInstallation, SourceHostStatus } from '../../shared/source-host.ts'
import { serverPerTest } from './server-per-test.ts'

const servers = serverPerTest()
const installation = (fields: Partial<SourceHostInstallation> = {}): SourceHostInstallation => ({
  id: 'shi-0b1c2d3e4f5g6h7i8j9k',
  provider: 'github',
  account: 'acme',
  url: 'https://github.com',
  createdAt: '2026-02-01T11:00:00.000Z',
  ...fields,
})
const connectUrl = 'https://cp.example.com/source-hosts/github?ownerId=tea-0b1c2d3e4f5g6h7i8j9k'
const status = (...installations: SourceHostInstallation[]): SourceHostStatus => ({
  configured: true,
  installed: installations.length > 0,
  ...(installations[0] && { account: installations[0].account }),
  providers: [
    { name: 'github', configured: true, url: 'https://github.com', connectUrl },
    { name: 'gitea', configured: false, url: '', connectUrl },
  ],
  installations,
})
const repository = (name: string, host = 'https://github.com'): { repo: Repository; cursor: string } => ({
  cursor: name,
  repo: {
    name,
    provider: 'github',
    installationId: installation().id,
    cloneUrl: `${host}/${name}.git`,
    url: `${host}/${name}`,
    private: true,
    defaultBranch: 'main',
  },
})

describe('cpctl sourcehost', () => {
  test('status tells what is configured, and which accounts are connected', async () => {
    const run = servers.on({
      getSourceHostStatus: () => status(installation(), installation({ account: 'corp', problem: 'It is suspended.' })),
    })
    const { stdout, stderr, exitCode } = await run('sourcehost', 'status')
    expect(exitCode).toBe(0)
    expect(stderr).toContain('GitHub: https://github.com')
    expect(stderr).toContain('Gitea or Forgejo: not configured')
    expect(stdout).toContain('acme')
    expect(stdout).toContain('It is suspended.')
  })

  test('connect github opens the page, and waits for the account', async () => {
    let asked = 0
    const run = servers.on({ getGithubStatus: () => (++asked < 3 ? status() : status(installation())) })
    const { stdout, stderr } = await run('sourcehost', 'connect', 'github')
    expect(stderr).toContain(connectUrl)
    expect(stdout).toBe('Connected to acme at https://github.com.\n')
  })

  test('connect gitea sends the token, and prints it nowhere', async () => {
    const run = servers.on(
      { connectGitea: () => installation({ provider: 'gitea', account: 'ada', url: 'https://git.example.com' }) },
      { stdin: 'token-of-ada\n' },
    )
    const { stdout, stderr } = await run('sourcehost', 'connect', 'gitea', '--token-stdin')
    expect(servers.received().map(({ body }) => body)).toEqual([{ token: 'token-of-ada' }])
    expect(stdout).toBe('Connected to ada at https://git.example.com.\n')
    expect(stdout + stderr).not.toContain('token-of-ada')
  })

  test('repos lists what the workspace is let into, and says what to do where nothing is', async () => {
    const run = servers.on({
      getSourceHostStatus: () => status(installation()),
      listSourceHostRepos: ({ query }) => (query.search === 'none' ? [] : [repository('acme/shop')]),
    })
    expect((await run('sourcehost', 'repos', 'shop')).stdout).toContain('https://github.com/acme/shop.git')
    expect((await run('sourcehost', 'repos', 'none')).stderr).toContain('cpctl sourcehost connect')
  })

  test('repos lists those of the other accounts where a host cannot be asked, and names it', async () => {
    const [ada, bob] = [installation({ account: 'ada' }), installation({ id: 'shi-1b1c2d3e4f5g6h7i8j9k', account: 'bob' })]
    const run = servers.on({
      getSourceHostStatus: () => status(ada, bob),
      listSourceHostRepos({ query }) {
        if (query.installationId === bob.id || query.search === 'down') throw new AppError('unavailable', 'The host does not answer.')
        return [repository('ada/shop')]
      },
    })
    const { stdout, stderr, exitCode } = await run('sourcehost', 'repos')
    expect([exitCode, stderr]).toEqual([
      0,
      expect.stringContaining('Without those of bob at https://github.com: The host does not answer.'),
    ])
    expect(stdout).toContain('ada/shop')
    expect((await run('sourcehost', 'url', 'ada/shop')).stderr).toContain('Without those of bob')
    expect((await run('sourcehost', 'repos', 'down')).exitCode).not.toBe(0)
  })

  test('url completes owner/name where exactly one host has it', async () => {
    const found = [
      repository('acme/shop'),
      repository('acme/shop-admin'),
      repository('acme/twice'),
      repository('acme/twice', 'https://git.example.com'),
    ]
    const run = servers.on({ getSourceHostStatus: () => status(installation()), listSourceHostRepos: () => found })
    expect((await run('sourcehost', 'url', 'Acme/Shop')).stdout).toBe('https://github.com/acme/shop.git\n')
    expect((await run('sourcehost', 'url', 'acme/twice')).stderr).toContain('Several hosts have a repository acme/twice.')
    expect((await run('sourcehost', 'url', 'acme/none')).stderr).toContain('cpctl sourcehost repos')
  })

  test('disconnect goes by the account, and asks first', async () => {
    const run = servers.on({ getSourceHostStatus: () => status(installation()), disconnectSourceHost: () => undefined })
    expect((await run('sourcehost', 'disconnect', 'acme')).exitCode).not.toBe(0)
    expect((await run('sourcehost', 'disconnect', 'acme', '--yes')).stdout).toBe('Disconnected acme.\n')
    expect((await run('sourcehost', 'disconnect', 'corp', '--yes')).stderr).toContain('No account corp is connected.')
    expect(servers.received().filter(({ id }) => id === 'disconnectSourceHost')).toHaveLength(1)
  })

  test('tells what the server says where nothing is configured', async () => {
    const run = servers.on({
      getSourceHostStatus: () => ({ ...status(), configured: false }),
      listSourceHostRepos: () => {
        throw new AppError('not_configured', 'No source host is configured: set CP_GITEA_URL.')
      },
    })
    expect((await run('sourcehost', 'repos')).stderr).toContain('set CP_GITEA_URL')
  })
})
