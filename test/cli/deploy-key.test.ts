import { afterEach, expect, test } from 'vitest'
import type { DeployKey } from '../../shared/deploy-key.ts'
import { exampleService, pageOf, serviceId } from './examples.ts'
import { type Answers, type FakeServer, startFakeServer } from './fake-server.ts'
import { cpctl } from './terminal.ts'

let server: FakeServer
afterEach(async () => {
  expect(server.breaches).toEqual([])
  await server.stop()
})

const repo = 'git@git.example.com:acme/shop.git'
const hostKey = {
  ...{ host: 'git.example.com', publicKey: 'ssh-ed25519 AAAA', fingerprint: 'SHA256:host' },
  pinnedAt: '2026-02-01T12:00:00.000Z',
}
const key = (publicKey: string): DeployKey => ({
  ...{ serviceId, publicKey, fingerprint: 'SHA256:own', createdAt: '2026-02-01T11:00:00.000Z', hostKeys: [hostKey] },
})
const answers: Answers = {
  listServices: () => pageOf('service', [exampleService()]),
  createService: () => ({ service: exampleService({ repo }) }),
  updateService: () => exampleService({ repo }),
  getDeployKey: () => key('ssh-ed25519 first'),
  rotateDeployKey: () => key('ssh-ed25519 second'),
  forgetHostKeys: () => undefined,
}

function run(argv: string[], typed?: string[]) {
  server = startFakeServer(answers)
  return cpctl(argv, { env: { CPCTL_URL: server.url, CPCTL_TOKEN: 'cpk_test' }, ...(typed && { typed }) })
}

const asked = () => server.received.map(({ id }) => id)

test('the public key alone is printed, and beside it what servers are known by', async () => {
  expect(await run(['services', 'deploy-key', 'web'])).toMatchObject({
    exitCode: 0,
    stdout: 'ssh-ed25519 first\n',
    stderr: 'git.example.com is known by SHA256:host, since 2026-02-01T12:00:00.000Z.\n',
  })
})

test('with --json the key is as the API tells it', async () => {
  expect(JSON.parse((await run(['services', 'deploy-key', 'web', '--json'])).stdout)).toEqual(key('ssh-ed25519 first'))
})

test('a new key is made when the name of the service is typed', async () => {
  expect(await run(['services', 'deploy-key', 'web', '--rotate'], ['web'])).toMatchObject({ exitCode: 0, stdout: 'ssh-ed25519 second\n' })
})

test('host keys are shown before they are forgotten', async () => {
  const { exitCode, stdout, stderr } = await run(['services', 'deploy-key', 'web', '--forget-hosts', '--yes'])
  expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: 'web trusts the key that each git server shows next.\n' })
  expect(stderr).toContain('SHA256:host')
  expect(asked()).toContain('forgetHostKeys')
})

test.each([['--rotate'], ['--forget-hosts'], ['--rotate', '--forget-hosts', '--yes']])(
  'nothing is lost by %s without a clear yes',
  async (...options) => {
    expect((await run(['services', 'deploy-key', 'web', ...options])).exitCode).not.toBe(0)
    expect(asked().filter((id) => id === 'rotateDeployKey' || id === 'forgetHostKeys')).toEqual([])
  },
)

test.each(['create', 'update'])('%s with a repository by ssh tells where the key of the service goes', async (command) => {
  const { exitCode, stdout, stderr } = await run(['services', command, 'web', '--repo', repo])
  expect(exitCode).toBe(0)
  expect(stdout.split('\n')).toContain('ssh-ed25519 first')
  expect(stderr).toBe(
    `Give the server of ${repo} this key, as a deploy key of the repository; to read is enough:\nThen deploy: cpctl deploys create web\n`,
  )
})
