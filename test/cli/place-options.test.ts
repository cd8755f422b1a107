import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Service } from '../../shared/service.ts'
import { deployId, exampleDeploy, exampleService, pageOf } from './examples.ts'
import { blog, production, servingPlaces, shop, staging } from './places.ts'
import { serverPerTest } from './server-per-test.ts'
import { temporaryFolder } from './terminal.ts'

const servers = serverPerTest()
const { received } = servers

let home: Awaited<ReturnType<typeof temporaryFolder>>
beforeEach(async () => {
  home = await temporaryFolder()
  await mkdir(join(home.path, 'web'))
  await writeFile(join(home.path, 'web/package.json'), '{}')
})
afterEach(() => home.remove())

/** A server with these services, and a folder `web` that may be linked to staging. */
async function on({ services = [], isLinked = false }: { services?: Service[]; isLinked?: boolean } = {}) {
  const link = { project: 'shop', environment: 'staging', environmentId: staging.id }
  if (isLinked) await writeFile(join(home.path, 'web/.cpd.json'), JSON.stringify(link))
  const answers = {
    ...servingPlaces(),
    listServices: ({ query }: { query: Record<string, unknown> }) => {
      const { name, environmentId } = query as { name?: string[]; environmentId?: string[] }
      const isMeant = (service: Service) =>
        (name?.includes(service.name) ?? true) && (environmentId?.includes(service.environmentId ?? '') ?? true)
      return pageOf('service', services.filter(isMeant))
    },
    createService: ({ body }: { body: unknown }) => ({ service: exampleService(body as Partial<Service>) }),
    uploadSource: async ({ request }: { request: Request }) => {
      await request.bytes()
      return { source: { id: 'src-0b1c2d3e4f5g6h7i8j9k', sha256: '0'.repeat(64), sizeBytes: 1, fileCount: 1 }, deployId }
    },
    getDeploy: () => exampleDeploy(),
    listDisks: () => [],
  }
  return servers.on(answers, { cwd: join(home.path, 'web'), env: { HOME: home.path } })
}

const last = (id: string) => received().findLast((call) => call.id === id)

describe('--project and --environment', () => {
  test.each([
    [['--environment', 'production'], { environmentId: [production.id] }],
    [['--environment', 'staging', '--project', 'shop'], { environmentId: [staging.id] }],
    [['--project', 'blog'], { projectId: [blog.id] }],
  ])('narrow lists by %j', async (argv, filter) => {
    const run = await on()
    for (const [command, id] of [
      ['services', 'listServices'],
      ['cron', 'listServices'],
      ['disks', 'listDisks'],
    ] as const) {
      expect((await run(command, 'list', ...argv)).exitCode).toBe(0)
      expect(last(id)?.query).toMatchObject(filter)
    }
  })

  test('say where a service is made', async () => {
    const run = await on()
    expect((await run('services', 'create', 'web', '--environment', 'shop/staging')).stdout).toContain(' in shop/staging.\n')
    expect(last('createService')?.body).toMatchObject({ environmentId: staging.id })
    await run('services', 'create', 'web', '--project', 'blog')
    expect(last('createService')?.body).toMatchObject({ environmentId: 'evm-2b1c2d3e4f5g6h7i8j9k' })
    await run('services', 'create', 'web')
    expect(last('createService')?.body).not.toHaveProperty('environmentId')
    expect(await run('services', 'create', 'web', '--project', shop.id)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('several environments: shop/staging, shop/production.\nName one with --environment.'),
    })
  })
})

describe('deploy', () => {
  const deployed = async (run: Awaited<ReturnType<typeof on>>, ...argv: string[]) => run('deploy', '-d', ...argv)

  test('makes the service where it is told to', async () => {
    const { stderr } = await deployed(await on(), '--environment', 'production')
    expect(stderr).toContain(') in shop/production\n')
    expect(last('createService')?.body).toMatchObject({ environmentId: production.id })
  })

  test('makes the service where the folder is linked to, from elsewhere as well', async () => {
    const run = await on({ isLinked: true })
    expect((await deployed(run)).stderr).toContain(') in shop/staging\n')
    expect(last('createService')?.body).toMatchObject({ environmentId: staging.id })
    await deployed(run, join(home.path, 'web'), '--environment', 'production')
    expect(last('createService')?.body).toMatchObject({ environmentId: production.id })
    await run('services', 'create', 'other')
    expect(last('createService')?.body).toMatchObject({ environmentId: staging.id })
  })

  test('goes on to a service that is there, without a word', async () => {
    const run = await on({ isLinked: true, services: [exampleService({ environmentId: staging.id })] })
    expect(await deployed(run)).toMatchObject({ exitCode: 0, stderr: expect.not.stringContaining('staging') })
    expect(received().some(({ id }) => id === 'getEnvironment')).toBe(false)
  })

  test('does not go to the service of that name in another environment', async () => {
    const there = exampleService({ id: 'srv-1b1c2d3e4f5g6h7i8j9k', name: 'web-staging', environmentId: staging.id })
    const run = await on({ isLinked: true, services: [exampleService({ environmentId: production.id }), there] })
    expect(await deployed(run)).toMatchObject({
      exitCode: 1,
      stderr:
        'Error: web is in shop/production, and this folder is linked to shop/staging.\n' +
        'Name the service that is meant with --service; there is web-staging.\n',
    })
    expect(await deployed(run, '--service', 'web')).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('though this folder') })
    expect(await deployed(run, '--service', 'web', '--environment', 'shop/staging')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('web is in shop/production, not in shop/staging.'),
    })
  })

  test('tells how to move a service that is in no environment', async () => {
    const run = await on({ isLinked: true, services: [exampleService()] })
    expect(await deployed(run)).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining('cpctl environments move web --to shop/staging'),
    })
  })
})

test('services are listed with their environments, once one is in any', async () => {
  const [placed, loose] = [exampleService({ environmentId: staging.id }), exampleService({ name: 'api' })]
  const run = await on({ services: [placed, loose] })
  expect((await run('services', 'list')).stdout).toMatch(
    /^NAME +ENVIRONMENT +TYPE.*\nweb +shop\/staging +web_service.*\napi +- +web_service/,
  )
  expect((await run('services', 'list', '--environment', 'production')).stderr).toBe('There is nothing of this kind in production.\n')
})

test('a service is shown with its environment', async () => {
  const run = await on({ services: [exampleService({ environmentId: staging.id })] })
  expect((await run('services', 'get')).stdout).toMatch(/Environment: +shop\/staging\n/)
})
