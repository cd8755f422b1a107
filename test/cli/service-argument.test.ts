import { afterEach, describe, expect, test } from 'vitest'
import { exampleService, pageOf, serviceId } from './examples.ts'
import { type Answers, type FakeServer, startFakeServer } from './fake-server.ts'
import { cpctl } from './terminal.ts'

let server: FakeServer
afterEach(async () => {
  expect(server.breaches).toEqual([])
  await server.stop()
})

const services = [exampleService(), exampleService({ id: 'srv-1b1c2d3e4f5g6h7i8j9k', name: 'api' })]

function serving(answers: Answers = {}) {
  server = startFakeServer({
    listServices: ({ query }) =>
      pageOf(
        'service',
        services.filter(({ name }) => query.name === undefined || (query.name as string[]).includes(name)),
      ),
    setEnvVar: ({ params }) => ({ key: params.key, value: '' }),
    deleteEnvVar: () => undefined,
    listEnvVars: () => [],
    listCustomDomains: () => [],
    listDisks: () => [],
    listLogs: () => ({ hasMore: false, nextStartTime: '2026-02-01T12:00:00.000Z', nextEndTime: '2026-02-01T12:00:00.000Z', logs: [] }),
    ...answers,
  })
  return (...argv: string[]) => cpctl(argv, { env: { CPCTL_URL: server.url, CPCTL_TOKEN: 'cpk_test', NO_COLOR: '1' } })
}
const last = () => server.received.at(-1)

describe('the service is named alike everywhere', () => {
  test.each([
    ['env list', 'listEnvVars'],
    ['domains list', 'listCustomDomains'],
  ])('%s takes it as argument, option, or from the folder', async (command, id) => {
    const run = serving()
    for (const more of [['api'], ['--service', 'api'], ['-s', 'api'], ['api', '--service', 'api']]) {
      expect((await run(...command.split(' '), ...more)).exitCode).toBe(0)
      expect(last()).toMatchObject({ id, params: { serviceId: services[1]?.id } })
    }
    await run(...command.split(' '))
    expect(last()).toMatchObject({ id, params: { serviceId } })
    expect(await run(...command.split(' '), 'api', '-s', 'web')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('Two services are named'),
    })
  })

  test('logs as well', async () => {
    const run = serving()
    for (const more of [['api'], ['-s', 'api']]) {
      await run('logs', ...more)
      expect(last()?.query.resource).toEqual([services[1]?.id])
    }
  })

  test('before what a command is about', async () => {
    const run = serving()
    await run('env', 'set', 'api', 'A=1')
    expect(last()).toMatchObject({ id: 'setEnvVar', params: { serviceId: services[1]?.id, key: 'A' } })
    await run('env', 'set', 'A=1', '-s', 'api')
    expect(last()).toMatchObject({ params: { serviceId: services[1]?.id } })
    await run('env', 'unset', 'api', 'A')
    expect(last()).toMatchObject({ id: 'deleteEnvVar', params: { serviceId: services[1]?.id, key: 'A' } })
    await run('env', 'unset', 'A', 'B')
    expect(last()).toMatchObject({ params: { serviceId, key: 'B' } })
    expect(await run('env', 'set', 'api')).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('api is not KEY=value') })
  })
})

test('a service that was mistyped is told', async () => {
  const run = serving()
  expect(await run('logs', 'apj')).toMatchObject({
    exitCode: 1,
    stderr: 'Error: There is no service apj.\nDid you mean api? cpctl services list shows all.\n',
  })
  expect((await run('logs', 'nothing-like-it')).stderr).toBe(
    'Error: There is no service nothing-like-it.\ncpctl services list shows them.\n',
  )
})
