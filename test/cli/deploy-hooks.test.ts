import { afterEach, expect, test } from 'vitest'
import { exampleService, pageOf, serviceId } from './examples.ts'
import { type Answers, type FakeServer, startFakeServer } from './fake-server.ts'
import { cpctl } from './terminal.ts'

let server: FakeServer
afterEach(async () => {
  expect(server.breaches).toEqual([])
  await server.stop()
})

const hook = (token: string) => ({
  serviceId,
  url: `https://cp.example.com/v1/deploy-hooks/${token}`,
  createdAt: '2026-02-01T11:00:00.000Z',
})
const answers: Answers = {
  listServices: () => pageOf('service', [exampleService()]),
  getDeployHook: () => hook('first'),
  rotateDeployHook: () => hook('second'),
}

function run(argv: string[], typed?: string[]) {
  server = startFakeServer(answers)
  return cpctl(argv, { env: { CPCTL_URL: server.url, CPCTL_TOKEN: 'cpk_test' }, ...(typed && { typed }) })
}

test('the hook alone is printed, for scripts to call', async () => {
  expect(await run(['deploy-hooks', 'show', 'web'])).toMatchObject({
    exitCode: 0,
    stdout: 'https://cp.example.com/v1/deploy-hooks/first\n',
  })
})

test('a new hook is made when the name of the service is typed', async () => {
  expect(await run(['deploy-hooks', 'rotate', 'web'], ['web'])).toMatchObject({
    exitCode: 0,
    stdout: 'https://cp.example.com/v1/deploy-hooks/second\n',
  })
})

test('nothing is rotated without a yes', async () => {
  const { exitCode } = await run(['deploy-hooks', 'rotate', 'web'])
  expect(exitCode).not.toBe(0)
  expect(server.received.map(({ id }) => id)).not.toContain('rotateDeployHook')
})

test('with --json the hook is as the API tells it', async () => {
  expect(JSON.parse((await run(['deploy-hooks', 'show', 'web', '--json'])).stdout)).toEqual(hook('first'))
})
