import { describe, expect, test } from 'vitest'
import { AppError } from '../../shared/error.ts'
import { exampleDatabase, exampleEnvironment, exampleService, exampleStore, pageOf, serviceId } from './examples.ts'
import type { Answers } from './fake-server.ts'
import { blogStaging, production, servingPlaces, shop, staging } from './places.ts'
import { serverPerTest } from './server-per-test.ts'
import type { TerminalOptions } from './terminal.ts'

const servers = serverPerTest()
const { received } = servers
const on = (answers: Answers = {}, options?: TerminalOptions) =>
  servers.on({ ...servingPlaces(), listServices: () => pageOf('service', [exampleService()]), ...answers }, options)

describe('an environment', () => {
  test('is shown with what is in it', async () => {
    expect((await on({ listEnvGroups: () => [] })('environments', 'show', 'production')).stdout).toMatch(
      /Project: +shop\n[\s\S]*Protected: +yes\nIsolated: +yes\nServices: +web\nDatabases: +none\nKey-value stores: none\nEnv groups: +none\n/,
    )
  })

  test('is found by id, by a name that is the only one, and by project and name', async () => {
    const run = on()
    const shown = async (...argv: string[]) => JSON.parse((await run('environments', 'show', ...argv, '--json')).stdout)
    expect(await shown('production')).toEqual(production)
    expect(await shown('blog/staging')).toEqual(blogStaging)
    expect(await shown('staging', '--project', 'shop')).toEqual(staging)
    expect(await shown(`${shop.id}/staging`)).toEqual(staging)
    expect(await shown(staging.id)).toEqual(staging)
  })

  test.each([
    [['staging'], 2, 'There are 2 environments named staging: shop/staging, blog/staging.\nName the project as well.'],
    [['prodution'], 1, 'There is no environment prodution.\nDid you mean shop/production?'],
    [['blog/production'], 1, 'There is no environment production in the project blog.'],
    [['bolg/staging'], 1, 'There is no project bolg.\nDid you mean blog?'],
    [['shop/staging', '--project', 'blog'], 2, 'Two projects are named: shop and --project blog.'],
    [['shop/a/b'], 2, 'shop/a/b is not project/environment.'],
    [[staging.id, '--project', 'blog'], 2, 'is in the project shop, not in blog.'],
    [['evm-9b1c2d3e4f5g6h7i8j9k'], 1, 'There is no environment evm-9b1c2d3e4f5g6h7i8j9k.'],
  ])('named %j is refused in words', async (argv, exitCode, words) => {
    expect(await on()('environments', 'show', ...argv)).toMatchObject({ exitCode, stderr: expect.stringContaining(words) })
  })

  test('is listed with what holds for it', async () => {
    const run = on()
    expect((await run('environments', 'list', '--project', 'shop')).stdout).toBe(
      [
        'NAME             SERVICES  DATABASES  PROTECTED  ISOLATED  ID',
        'shop/staging            0          0  no         no        evm-0b1c2d3e4f5g6h7i8j9k',
        'shop/production         0          0  yes        yes       evm-1b1c2d3e4f5g6h7i8j9k',
        '',
      ].join('\n'),
    )
    expect(JSON.parse((await run('environments', 'ls', '--json')).stdout)).toHaveLength(3)
  })

  test('is made protected and isolated', async () => {
    const run = on({ createEnvironment: () => production })
    expect((await run('environments', 'create', 'shop/production', '--protected', '--isolated')).stdout).toBe(
      `Created shop/production (${production.id}).\n`,
    )
    const settings = { protectedStatus: 'protected', networkIsolationEnabled: true }
    expect(received().at(-1)?.body).toEqual({ name: 'production', projectId: shop.id, ...settings })
    await run('environments', 'create', 'staging', '--project', shop.id)
    expect(received().at(-1)?.body).toEqual({ name: 'staging', projectId: shop.id })
    expect(await run('environments', 'create', 'staging')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('Name the project'),
    })
  })

  test('is renamed, protected, isolated and neither', async () => {
    const run = on({ updateEnvironment: () => exampleEnvironment({ name: 'test' }) })
    expect((await run('environments', 'rename', 'shop/staging', 'test')).stdout).toBe('shop/staging is named test now.\n')
    expect(received().at(-1)).toMatchObject({ params: { environmentId: staging.id }, body: { name: 'test' } })
    for (const [command, body] of [
      ['protect', { protectedStatus: 'protected' }],
      ['unprotect', { protectedStatus: 'unprotected' }],
      ['isolate', { networkIsolationEnabled: true }],
      ['unisolate', { networkIsolationEnabled: false }],
    ] as const) {
      expect((await run('environments', command, 'shop/staging')).stdout).toMatch(/^shop\/staging is /)
      expect(received().at(-1)).toMatchObject({ id: 'updateEnvironment', body, query: {} })
    }
  })

  test('that is isolated tells what is parted, and does it with --force', async () => {
    const details = [{ path: '/networkIsolationEnabled', message: 'web (srv-1) in blog/staging uses api' }]
    const run = on({
      updateEnvironment: ({ query }) => {
        if (query.force !== true) throw new AppError('conflict', 'Services would lose each other.', { details })
        return staging
      },
    })
    expect((await run('environments', 'isolate', 'shop/staging')).stderr).toMatch(
      /^Error: Services would lose each other\.\n.*web \(srv-1\) in blog\/staging uses api\nGive --force to do it nonetheless/,
    )
    expect((await run('environments', 'isolate', 'shop/staging', '--force')).exitCode).toBe(0)
  })

  test('is deleted once its name was typed', async () => {
    const run = on({ deleteEnvironment: () => undefined }, { typed: ['shop/staging'] })
    expect((await run('environments', 'delete', 'shop/staging')).stdout).toBe('Deleted shop/staging.\n')
    expect(received().at(-1)?.params).toEqual({ environmentId: staging.id })
  })
})

describe('environments move', () => {
  const api = exampleService({ id: 'srv-1b1c2d3e4f5g6h7i8j9k', name: 'api' })
  const services: Answers = {
    listServices: ({ query }) =>
      pageOf(
        'service',
        [exampleService(), api].filter(({ name }) => (query.name as string[]).includes(name)),
      ),
  }

  test('takes several services in, at once', async () => {
    const run = on({ ...services, addEnvironmentResources: () => production })
    expect((await run('environments', 'move', 'web', 'api', 'web', '--to', 'shop/production')).stdout).toBe(
      'web, api are in shop/production now.\n',
    )
    const { params, body } = received().at(-1) ?? {}
    expect({ params, body }).toEqual({ params: { environmentId: production.id }, body: { resourceIds: [serviceId, api.id] } })
  })

  test('takes services out of wherever they are', async () => {
    const environments = [exampleEnvironment({ serviceIds: [serviceId] }), { ...production, serviceIds: [api.id] }]
    const run = on({ ...services, ...servingPlaces({ environments }), removeEnvironmentResources: () => undefined })
    expect((await run('environments', 'move', 'web', 'api', '--out')).stdout).toBe('web, api are in no environment now.\n')
    const calls = received().filter(({ id }) => id === 'removeEnvironmentResources')
    expect(calls.map(({ params, query }) => [params.environmentId, query.resourceIds])).toEqual([
      [staging.id, [serviceId]],
      [production.id, [api.id]],
    ])
  })

  test('takes databases along, in and out', async () => {
    const ids = [exampleDatabase.id, exampleStore.id]
    const run = on({
      ...services,
      ...servingPlaces({ environments: [staging, { ...production, databasesIds: [ids[0] ?? ''], redisIds: [ids[1] ?? ''] }] }),
      listPostgres: () => pageOf('postgres', [exampleDatabase]),
      listKeyValue: () => pageOf('keyValue', [exampleStore]),
      addEnvironmentResources: () => production,
      removeEnvironmentResources: () => undefined,
    })
    expect((await run('environments', 'move', 'shop', 'cache', '--to', 'shop/production')).stdout).toBe(
      'shop, cache are in shop/production now.\n',
    )
    expect(received().at(-1)?.body).toEqual({ resourceIds: ids })
    await run('environments', 'move', ...ids, '--out')
    expect(received().at(-1)).toMatchObject({ params: { environmentId: production.id }, query: { resourceIds: ids } })
    const shown = on({
      ...servingPlaces({ environments: [{ ...production, databasesIds: [ids[0] ?? ''], redisIds: [ids[1] ?? ''] }] }),
      listPostgres: () => pageOf('postgres', [exampleDatabase]),
      listKeyValue: () => pageOf('keyValue', [exampleStore]),
      listEnvGroups: () => [],
    })
    expect((await shown('environments', 'show', 'production')).stdout).toMatch(/Databases: +shop\nKey-value stores: cache\n/)
  })

  test('takes env groups along, by name', async () => {
    const at = '2026-02-01T10:00:00.000Z'
    const group = { id: 'evg-0b1c2d3e4f5g6h7i8j9k', name: 'db', ownerId: 'tea-0b1c2d3e4f5g6h7i8j9k', createdAt: at, updatedAt: at }
    const whole = { ...group, serviceLinks: [], envVars: [], secretFiles: [] }
    const answers = { listEnvGroups: () => pageOf('envGroup', [whole]), getEnvGroup: () => whole }
    const run = on({ ...services, ...answers, addEnvironmentResources: () => production })
    const { stdout } = await run('environments', 'move', 'web', '--env-group', 'db', '--to', 'shop/production')
    expect(stdout).toBe('web, db are in shop/production now.\n')
    expect(received().at(-1)?.body).toEqual({ resourceIds: [serviceId, group.id] })
    expect((await run('environments', 'move', '--to', 'shop/production')).exitCode).toBe(2)
  })

  test('names the links that it would break, and the way to do it', async () => {
    const details = [{ path: '/resourceIds/0', message: 'api (srv-2) in blog/staging uses web' }]
    const run = on({
      ...services,
      addEnvironmentResources: () => {
        throw new AppError('conflict', 'Links would break.', { details })
      },
    })
    const { exitCode, stderr } = await run('environments', 'move', 'web', '--to', 'shop/production')
    expect(exitCode).toBe(1)
    expect(stderr).toMatch(/uses web\nGive --force to do it nonetheless/)
  })

  test.each([[['web']], [['web', '--to', 'shop/staging', '--out']]])('%j says not where to', async (argv) => {
    expect(await on(services)('environments', 'move', ...argv)).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('--to') })
  })
})
