import { afterEach, describe, expect, test } from 'vitest'
import { AppError } from '../../shared/error.ts'
import { exampleDatabase as database, exampleService, pageOf, serviceId } from './examples.ts'
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
    listPostgres: () => [],
    listKeyValue: () => [],
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

test('a service or database that was mistyped is told', async () => {
  const run = serving()
  expect(await run('logs', 'apj')).toMatchObject({
    exitCode: 1,
    stderr: 'Error: There is no service or database apj.\nDid you mean api? cpctl services list, postgres list and kv list show all.\n',
  })
  expect((await run('logs', 'nothing-like-it')).stderr).toBe(
    'Error: There is no service or database nothing-like-it.\ncpctl services list, postgres list and kv list show all.\n',
  )
})

describe('the logs of databases', () => {
  const shown = () => server.received.find(({ id }) => id === 'listLogs')?.query.resource

  test('are found by name, where no service has it', async () => {
    await serving({ listPostgres: () => pageOf('postgres', [database, { ...database, id: 'dpg-1b1c2d3e4f5g6h7i8j9k-a', name: 'api' }]) })(
      'logs',
      'shop',
    )
    expect(shown()).toEqual([database.id])
    server.received.length = 0
    const { exitCode } = await cpctl(['logs', 'api'], { env: { CPCTL_URL: server.url, CPCTL_TOKEN: 'cpk_test' } })
    expect([exitCode, shown()]).toEqual([0, [services[1]?.id]])
  })

  test.each([database.id, 'red-0b1c2d3e4f5g6h7i8j9k'])('are found by the id %s, without a look at any list', async (id) => {
    await serving()('logs', id)
    expect(server.received.map((request) => request.id)).toEqual(['listLogs'])
    expect(shown()).toEqual([id])
  })

  test('are no reason to refuse those who may not list databases', async () => {
    const listPostgres = () => {
      throw new AppError('forbidden', 'This needs the permission datastores.read.')
    }
    expect((await serving({ listPostgres })('logs', 'shop')).stderr).toContain('There is no service or database shop.')
  })
})
