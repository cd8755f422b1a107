import { describe, expect, test } from 'vitest'
import type { EnvGroup } from '../../shared/env-group.ts'
import { AppError } from '../../shared/error.ts'
import type { Postgres } from '../../shared/postgres.ts'
import type { Service } from '../../shared/service.ts'
import { deployId, exampleDatabase, exampleDeploy, exampleEnvironment, exampleService, pageOf, serviceId } from './examples.ts'
import type { Answers } from './fake-server.ts'
import { blog, production, servingPlaces, shop, staging } from './places.ts'
import { serverPerTest } from './server-per-test.ts'

const servers = serverPerTest()
const { received } = servers

const web = exampleService({ environmentId: production.id })
const copyId = 'srv-1b1c2d3e4f5g6h7i8j9k'
const copy = exampleService({ id: copyId, name: 'web-staging', environmentId: staging.id, latestDeployStatus: 'none' })
const sourceId = 'src-0b1c2d3e4f5g6h7i8j9k'

function on(services: Service[] = [web], answers: Answers = {}, groups: EnvGroup[] = []) {
  return servers.on({
    ...servingPlaces(),
    listServices: () => pageOf('service', services),
    listEnvVars: () => pageOf('envVar', [{ key: 'TOKEN', value: 'secret' }]),
    listSecretFiles: () => [],
    listCustomDomains: () => [],
    listEnvGroups: () => pageOf('envGroup', groups),
    createProject: ({ body }) => ({ ...shop, id: 'prj-2b1c2d3e4f5g6h7i8j9k', name: (body as { name: string }).name }),
    createEnvironment: () => exampleEnvironment(),
    createService: () => ({ service: copy }),
    getService: () => copy,
    listDeploys: () => pageOf('deploy', [exampleDeploy({ source: { id: sourceId, sha256: '0'.repeat(64) } })]),
    createDeploy: () => exampleDeploy(),
    ...answers,
  })
}

const made = () =>
  received()
    .filter(({ request }) => request.method !== 'GET')
    .map(({ id, body }) => [id, body])

describe('projects copy', () => {
  test('shows the plan and does nothing on a dry run', async () => {
    const run = on()
    const argv = ['projects', 'copy', 'production', 'test', '--dry-run']
    expect((await run(...argv)).stdout).toBe(
      ['+ environment shop/test, like shop/production, isolated', '  + web_service web-test, like web: 1 variable', ''].join('\n'),
    )
    const { environments } = JSON.parse((await run(...argv, '--json')).stdout)
    expect(environments).toEqual([
      {
        name: 'shop/test',
        of: 'shop/production',
        exists: false,
        databases: [],
        envGroups: [],
        services: [{ name: 'web-test', of: 'web', exists: false, missing: ['TOKEN'], envGroups: [], domains: [] }],
      },
    ])
    expect(made()).toEqual([])
  })

  test('makes what is not there, without values', async () => {
    const { exitCode, stderr } = await on()('projects', 'copy', 'production', 'test')
    expect(exitCode).toBe(0)
    const [environment, service, ...others] = made()
    expect(environment).toEqual([
      'createEnvironment',
      { name: 'test', projectId: shop.id, protectedStatus: 'unprotected', networkIsolationEnabled: true },
    ])
    expect(service).toMatchObject([
      'createService',
      { name: 'web-test', environmentId: staging.id, envVars: [{ key: 'TOKEN', value: '' }] },
    ])
    expect(others).toEqual([])
    expect(stderr).toContain('web-test lacks the values of TOKEN')
    expect(stderr).toContain('Nothing was deployed')
  })

  test('goes on where it broke off', async () => {
    const { stderr } = await on([web, copy])('projects', 'copy', 'shop/production', 'shop/staging')
    expect(made()).toEqual([])
    expect(stderr).toBe('Every service has its copy.\n')
  })

  test('takes values along where they may be seen', async () => {
    expect((await on()('projects', 'copy', 'production', 'test', '--with-values')).exitCode).toBe(0)
    expect(made()[1]).toMatchObject(['createService', { envVars: [{ key: 'TOKEN', value: 'secret' }] }])
  })

  test('makes nothing where the values may not be seen', async () => {
    const run = on([web], { listEnvVars: () => pageOf('envVar', [{ key: 'TOKEN', value: '', hidden: true as const }]) })
    expect(await run('projects', 'copy', 'production', 'test', '--with-values')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('environments.manage_protected'),
    })
    expect(made()).toEqual([])
  })

  test('copies a whole project into one that is made', async () => {
    const { stdout } = await on()('projects', 'copy', 'shop', 'shop-eu', '--name', 'web=web-in-europe')
    expect(stdout).toBe(
      [
        '+ project shop-eu',
        '+ environment shop-eu/staging, like shop/staging',
        '+ environment shop-eu/production, like shop/production, isolated',
        '  + web_service web-in-europe, like web: 1 variable',
        '',
      ].join('\n'),
    )
    expect(made().map(([id]) => id)).toEqual(['createProject', 'createEnvironment', 'createEnvironment', 'createService'])
  })

  test('copies into another project, under its name where that of the environment is the same', async () => {
    await on([{ ...web, environmentId: staging.id }])('projects', 'copy', 'shop/staging', 'blog/staging')
    expect(made()).toMatchObject([['createService', { name: 'web-blog' }]])
    expect(blog.name).toBe('blog')
  })

  test('deploys the copies from what is live in the originals', async () => {
    const { exitCode, stderr } = await on()('projects', 'copy', 'production', 'test', '--deploy')
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('web-staging is live at') })
    expect(received().find(({ id }) => id === 'listDeploys')).toMatchObject({ params: { serviceId }, query: { status: ['live'] } })
    expect(made().at(-1)).toEqual(['createDeploy', { sourceId }])
  })

  test('ends with 1 where a copy did not become live', async () => {
    const run = on([web], { createDeploy: () => exampleDeploy({ id: deployId, status: 'build_failed', reason: 'npm failed.' }) })
    const { exitCode, stdout, stderr } = await run('projects', 'copy', 'production', 'test', '--deploy', '--json')
    expect(exitCode).toBe(1)
    expect(stderr).toContain('Did not become live: web-staging.')
    expect(JSON.parse(stdout).environments[0].services[0]).toMatchObject({ name: 'web-test', id: copyId })
  })

  test.each([
    [['production', 'shop/production'], 'shop/production cannot be copied onto itself.'],
    [['shop', 'shop'], 'The project shop cannot be copied onto itself.'],
    [['shop', 'blog/staging'], 'shop is a project, and blog/staging is an environment.'],
    [['staging', 'test'], 'There are 2 environments named staging'],
    [['production', 'test', '--name', 'web'], 'web is not original=copy.'],
    [['production', 'test', '--name', 'wbe=x'], '--name wbe: no service, database or env group of this name is copied.'],
  ])('%j is refused', async (argv, words) => {
    expect(await on()('projects', 'copy', ...argv)).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(words) })
    expect(made()).toEqual([])
  })

  test('copies env groups and links their copies', async () => {
    const group: EnvGroup = {
      ...{ id: 'evg-0b1c2d3e4f5g6h7i8j9k', name: 'db', ownerId: web.ownerId, environmentId: production.id },
      ...{ createdAt: web.createdAt, updatedAt: web.updatedAt },
      serviceLinks: [{ id: serviceId, name: 'web', type: 'web' }],
      envVars: [{ key: 'URL', value: 'x' }],
      secretFiles: [{ name: 'ca.pem', content: '' }],
    }
    const made: EnvGroup = { ...group, id: 'evg-1b1c2d3e4f5g6h7i8j9k' }
    const answers = {
      createEnvGroup: () => made,
      linkEnvGroup: () => made,
      getEnvGroup: () => ({ ...group, secretFiles: [{ name: 'ca.pem', content: 'pem' }] }),
    }
    const run = on([web], answers, [group])
    const bodyOf = () => received().findLast(({ id }) => id === 'createEnvGroup')?.body
    expect((await run('projects', 'copy', 'production', 'test')).exitCode).toBe(0)
    const place = { name: 'db-test', environmentId: staging.id }
    expect(bodyOf()).toEqual({ ...place, envVars: [{ key: 'URL', value: '' }], secretFiles: [{ name: 'ca.pem', content: '' }] })
    expect(received().at(-1)).toMatchObject({ id: 'linkEnvGroup', params: { envGroupId: made.id, serviceId: copyId } })
    await run('projects', 'copy', 'production', 'test', '--with-values')
    expect(bodyOf()).toEqual({ ...place, envVars: [{ key: 'URL', value: 'x' }], secretFiles: [{ name: 'ca.pem', content: 'pem' }] })
  })

  test('makes databases before what refers to them, and waits for them before the copies are deployed', async () => {
    const database: Postgres = { ...exampleDatabase, environmentId: production.id }
    const there: Postgres = { ...database, id: 'dpg-1b1c2d3e4f5g6h7i8j9k-a', name: 'shop-test', status: 'creating' }
    const run = on([web], {
      ...servingPlaces({ environments: [staging, { ...production, databasesIds: [database.id] }] }),
      listPostgres: () => pageOf('postgres', [database]),
      listKeyValue: () => [],
      createPostgres: () => there,
      getPostgres: () => ({ ...there, status: 'available' }),
      listEnvVars: () =>
        pageOf('envVar', [{ key: 'DATABASE_URL', value: '', fromDatabase: { id: database.id, property: 'connectionString' as const } }]),
    })
    const { exitCode, stderr } = await run('projects', 'copy', 'production', 'test', '--deploy')
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('like shop, empty') })
    expect(made().map(([id]) => id)).toEqual(['createEnvironment', 'createPostgres', 'createService', 'createDeploy'])
    expect(made()[2]).toMatchObject([
      'createService',
      { envVars: [{ key: 'DATABASE_URL', fromDatabase: { id: there.id, property: 'connectionString' } }] },
    ])
    expect(received().findIndex(({ id }) => id === 'getPostgres')).toBeLessThan(received().findIndex(({ id }) => id === 'createDeploy'))
  })

  test('ends with what the server refused, and keeps what was made', async () => {
    const run = on([web], {
      createService: () => {
        throw new AppError('forbidden', 'The workspace may have 25 services.')
      },
    })
    const { exitCode, stderr } = await run('projects', 'copy', 'production', 'test')
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('may have 25 services') })
    expect(stderr).toContain('Created the environment shop/test')
  })
})
