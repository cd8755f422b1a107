import { describe, expect, test } from 'vitest'
import { exampleService, pageOf, serviceId } from './examples.ts'
import type { Answers } from './fake-server.ts'
import { serverPerTest } from './server-per-test.ts'

const { on, received, stop } = serverPerTest()

const other = exampleService({
  id: 'srv-1b1c2d3e4f5g6h7i8j9k',
  name: 'docs',
  type: 'static_site',
  suspended: 'suspended',
  serviceDetails: { buildPlan: 'starter', url: 'http://docs.localhost:8080' },
})
const listed: Answers = {
  listServices: ({ query }) =>
    pageOf(
      'service',
      [exampleService(), other].filter(({ name }) => !Array.isArray(query.name) || query.name.includes(name)),
    ),
}

describe('services list', () => {
  test('prints an aligned table', async () => {
    const { exitCode, stdout, stderr } = await on(listed)('services', 'list')
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    expect(stdout).toBe(
      [
        'NAME  TYPE         STATE      PLAN     INSTANCES  UPDATED  URL',
        'web   web_service  active     starter          2  1h ago   http://web.localhost:8080',
        'docs  static_site  suspended  -                -  1h ago   http://docs.localhost:8080',
        '',
      ].join('\n'),
    )
    expect(received()[0]?.headers.get('authorization')).toBe('Bearer cpk_test')
  })

  test('shortens flexible columns to the width of a terminal', async () => {
    const { stdout } = await on(listed, { isTty: true, columns: 72, env: { NO_COLOR: '1' } })('services', 'list')
    const widths = stdout.split('\n').map((line) => line.length)
    expect(Math.max(...widths)).toBe(72)
    expect(stdout).toContain('http://web.l…\n')
  })

  test('prints the JSON of the API with --json', async () => {
    const { stdout } = await on(listed)('--json', 'services', 'list')
    expect(JSON.parse(stdout)).toEqual(pageOf('service', [exampleService(), other]))
  })

  test('colours only a terminal that wants colours', async () => {
    const coloured = await on(listed, { isTty: true })('services', 'list')
    expect(coloured.stdout).toContain('\u001b[')
    await stop()
    const refused = await on(listed, { isTty: true, env: { NO_COLOR: '1' } })('services', 'list')
    expect(refused.stdout).not.toContain('\u001b')
    await stop()
    const piped = await on(listed)('services', 'list')
    expect(piped.stdout).not.toContain('\u001b')
  })

  test('walks the cursors to the last page', async () => {
    const all = Array.from({ length: 101 }, (_, index) => exampleService({ name: `s${index}` }))
    const { stdout } = await on({
      listServices: ({ query }) => {
        const from = query.cursor === undefined ? 0 : Number(String(query.cursor).slice(1)) + 1
        return all.slice(from, from + Number(query.limit)).map((service, index) => ({ service, cursor: `c${from + index}` }))
      },
    })('services', 'list')
    expect(stdout.trim().split('\n')).toHaveLength(102)
    expect(received().map(({ query }) => query.cursor)).toEqual([undefined, 'c99'])
  })

  test('says how to make the first service', async () => {
    const { stdout, stderr } = await on({ listServices: () => [] })('services', 'list')
    expect({ stdout, stderr }).toEqual({ stdout: '', stderr: 'No services yet. Run cpctl deploy in a folder to make one.\n' })
  })

  test('removes control sequences from what the server sends', async () => {
    const hostile = exampleService({ name: 'a\u001b[31m\u001b]0;title\u0007b\u202ec\u009b2Jd' })
    const { stdout } = await on({ listServices: () => pageOf('service', [hostile]) })('services', 'list')
    expect(stdout).toContain('abcd ')
    await stop()
    const json = await on({ listServices: () => pageOf('service', [hostile]) })('services', 'list', '--json')
    for (const mark of ['\u001b', '\u009b', '\u202e']) expect(json.stdout).not.toContain(mark)
    expect(JSON.parse(json.stdout)[0].service.name).toBe(hostile.name)
  })
})

describe('services get', () => {
  test('finds a service by id, by name, or by the name of the folder', async () => {
    const byId = await on({ getService: () => exampleService() })('services', 'get', serviceId)
    await stop()
    const byName = await on(listed)('services', 'get', 'web')
    await stop()
    const byFolder = await on(listed, { cwd: '/src/web' })('services', 'get')
    expect(byName.stdout).toBe(byId.stdout)
    expect(byFolder.stdout).toBe(byId.stdout)
    expect(byId.stdout).toBe(
      [
        'Name:          web',
        `Id:            ${serviceId}`,
        'Type:          web_service',
        'State:         active',
        'URL:           http://web.localhost:8080',
        'Runtime:       node',
        'Plan:          starter',
        'Instances:     2',
        'Build command: npm ci',
        'Start command: npm start',
        'Created:       2026-02-01T10:00:00.000Z',
        'Updated:       2026-02-01T11:00:00.000Z',
        '',
      ].join('\n'),
    )
  })

  test('get tells what keeps it from being deployed from its repository', async () => {
    const since = '2026-02-01T11:00:00.000Z'
    const repositoryState = {
      problem: { since, message: 'acme/shop: Gitea does not have it.\u001b[31m' },
      waiting: { commitId: 'a'.repeat(40), message: 'Mend the door\n\nIt was open.', since, for: 'its check ci/1' },
    }
    const service = exampleService({
      repo: 'https://example.com/acme/shop',
      branch: 'main',
      autoDeployTrigger: 'checksPass',
      repositoryState,
    })
    const run = on({ getService: () => service })
    const { stdout } = await run('services', 'get', serviceId)
    expect(stdout).toContain('https://example.com/acme/shop at main')
    expect(stdout).toContain('once its checks have passed')
    expect(stdout).toContain(`aaaaaaaa Mend the door, since ${since}, for its check ci/1`)
    expect(stdout).toMatch(/Trouble: +since 2026-02-01T11:00:00.000Z: acme\/shop: Gitea does not have it.\n/)
    expect(JSON.parse((await run('services', 'get', serviceId, '--json')).stdout).repositoryState.problem.since).toBe(since)
  })

  test('an unknown name says where to look', async () => {
    const { exitCode, stderr } = await on(listed)('services', 'get', 'nope')
    expect(exitCode).toBe(1)
    expect(stderr).toBe('Error: There is no service nope.\ncpctl services list shows them.\n')
  })

  test('a folder without a service is a usage error', async () => {
    const { exitCode, stderr } = await on(listed, { cwd: '/src/other' })('services', 'get')
    expect(exitCode).toBe(2)
    expect(stderr).toContain('There is no service named after this folder (other).')
  })
})

describe('changing services', () => {
  test('create with a repository tells the deploy that has begun, and update changes where it is deployed from', async () => {
    const service = exampleService({ repo: 'https://example.com/acme/shop' })
    const cli = on({
      createService: () => ({ service, deployId: 'dep-0b1c2d3e4f5g6h7i8j9k' }),
      updateService: () => service,
      listServices: () => pageOf('service', [service]),
    })
    const from = [
      '--repo',
      'https://example.com/acme/shop',
      '--branch',
      'main',
      '--auto-deploy',
      'off',
      '--filter',
      'apps/web/**',
      '--filter',
      'lib/**',
    ]
    const { stdout } = await cli('services', 'create', 'web', ...from)
    expect(received().at(-1)?.body).toMatchObject({
      ...{ repo: 'https://example.com/acme/shop', branch: 'main', autoDeployTrigger: 'off' },
      buildFilter: { paths: ['apps/web/**', 'lib/**'] },
    })
    expect(stdout).toContain('Deploy dep-0b1c2d3e4f5g6h7i8j9k fetches https://example.com/acme/shop. Follow it: cpctl logs web')
    await cli('services', 'update', 'web', '--branch', 'next')
    expect(received().at(-1)?.body).toEqual({ branch: 'next' })
    await cli('services', 'update', 'web', '--submodules')
    expect(received().at(-1)?.body).toEqual({ submodules: true })
    await cli('services', 'update', 'web', '--no-submodules')
    expect(received().at(-1)?.body).toEqual({ submodules: false })
  })

  test('create sends the settings where their type has them', async () => {
    const cli = on({ createService: () => ({ service: exampleService() }) })
    const { stdout } = await cli(
      'services',
      'create',
      'web',
      '--runtime',
      'node',
      '--plan',
      'pro',
      '--start-command',
      'npm start',
      '--instances',
      '3',
    )
    expect(stdout).toBe(`Created web (${serviceId}).\nDeploy to it from its folder: cpctl deploy --service web\n`)
    await cli('services', 'create', 'docs', '--type', 'static_site', '--build-command', 'make', '--publish-path', 'out')
    expect(received().map(({ body }) => body)).toEqual([
      {
        type: 'web_service',
        name: 'web',
        serviceDetails: { runtime: 'node', plan: 'pro', numInstances: 3, envSpecificDetails: { startCommand: 'npm start' } },
      },
      { type: 'static_site', name: 'docs', serviceDetails: { buildCommand: 'make', publishPath: 'out' } },
    ])
  })

  test('update sends only what was given, and refuses to send nothing', async () => {
    const cli = on({ ...listed, updateService: () => exampleService({ name: 'site' }) })
    const { stdout } = await cli('services', 'update', 'web', '--name', 'site', '--health-check-path', '/up')
    expect(stdout).toBe('Updated site. The change takes effect with its next deploy.\n')
    expect(received().at(-1)?.body).toEqual({ name: 'site', serviceDetails: { healthCheckPath: '/up' } })
    expect((await cli('services', 'update', 'web', '--instances', '2')).stdout).toBe('Updated site.\n')
    const nothing = await cli('services', 'update', 'web')
    expect(nothing.exitCode).toBe(2)
  })

  test('delete wants the name typed, or --yes', async () => {
    const answers: Answers = { ...listed, deleteService: () => undefined }
    const refused = await on(answers)('services', 'delete', 'web')
    expect(refused).toMatchObject({
      exitCode: 2,
      stderr: 'Error: Cannot ask for input: standard input is not a terminal.\nGive --yes to confirm.\n',
    })
    expect(received().some(({ id }) => id === 'deleteService')).toBe(false)
    await stop()
    const mistyped = await on(answers, { typed: ['wbe'] })('services', 'delete', 'web')
    expect(mistyped.exitCode).toBe(2)
    await stop()
    const typed = await on(answers, { typed: ['web'] })('services', 'delete', 'web')
    expect(typed).toMatchObject({ exitCode: 0, stdout: 'Deleted web.\n' })
    await stop()
    const yes = await on(answers)('services', 'delete', 'web', '--yes')
    expect(yes).toMatchObject({ exitCode: 0, stdout: 'Deleted web.\n' })
  })

  test('suspend, resume, restart and scale tell what they did', async () => {
    const done = () => undefined
    const cli = on({ ...listed, suspendService: done, resumeService: done, restartService: done, scaleService: done })
    expect((await cli('services', 'suspend', 'web')).stdout).toBe('Suspended web.\n')
    expect((await cli('services', 'resume', 'web')).stdout).toBe('Resumed web.\n')
    expect((await cli('services', 'restart', 'web')).stdout).toBe('Restarting web: new instances take over as soon as they are healthy.\n')
    expect((await cli('services', 'scale', 'web', '3')).stdout).toBe('web is scaled to 3 instances.\n')
    expect(received().at(-1)?.body).toEqual({ numInstances: 3 })
    expect((await cli('services', 'scale', 'web', '0')).exitCode).toBe(2)
  })

  test('maintenance sets what is in force at once', async () => {
    const cli = on({ ...listed, updateService: () => exampleService() })
    expect((await cli('services', 'maintenance', 'on', 'web', '--uri', 'https://status.example.com')).stdout).toBe(
      'web is in maintenance.\n',
    )
    expect(received().at(-1)?.body).toEqual({
      serviceDetails: { maintenanceMode: { enabled: true, uri: 'https://status.example.com' } },
    })
    expect((await cli('services', 'maintenance', 'off', 'web')).stdout).toBe('web is back from maintenance.\n')
    expect(received().at(-1)?.body).toEqual({ serviceDetails: { maintenanceMode: { enabled: false } } })
    expect((await cli('services', 'maintenance', 'maybe', 'web')).exitCode).toBe(2)
  })

  test('update sets who may reach it and how its releases are watched, at once', async () => {
    const cli = on({ ...listed, updateService: () => exampleService() })
    const update = async (...options: string[]) => {
      expect((await cli('services', 'update', 'web', ...options)).stdout).toBe('Updated web.\n')
      return received().at(-1)?.body
    }
    expect(await update('--allow-ip', '192.0.2.0/24,2001:db8::/32')).toEqual({
      serviceDetails: { ipAllowList: [{ cidrBlock: '192.0.2.0/24' }, { cidrBlock: '2001:db8::/32' }] },
    })
    expect(await update('--allow-ip', 'nobody')).toEqual({ serviceDetails: { ipAllowList: [] } })
    expect(await update('--allow-ip', 'everywhere')).toMatchObject({ serviceDetails: { ipAllowList: [{ cidrBlock: '0.0.0.0/0' }] } })
    expect(await update('--no-guard')).toEqual({ serviceDetails: { cutoverGuard: { enabled: false } } })
    expect(await update('--guard', '--guard-window', '60', '--guard-threshold', '10')).toEqual({
      serviceDetails: { cutoverGuard: { enabled: true, windowSeconds: 60, errorRateThreshold: 10 } },
    })
    expect((await cli('services', 'update', 'web', '--guard-window', '4')).exitCode).toBe(2)
  })

  test('update sets when it sleeps, at once, and what shows a service tells whether it does', async () => {
    const serviceDetails = {
      ...exampleService().serviceDetails,
      sleep: { mode: 'freeze', idleSeconds: 900 },
      asleepAt: '2026-02-01T10:30:00.000Z',
    } as const
    const sleeping = exampleService({ serviceDetails })
    const cli = on({ listServices: () => pageOf('service', [sleeping]), updateService: () => sleeping })
    expect((await cli('services', 'update', 'web', '--sleep', 'freeze', '--sleep-after', '15m')).stdout).toBe('Updated web.\n')
    expect(received().at(-1)?.body).toEqual({ serviceDetails: { sleep: { mode: 'freeze', idleSeconds: 900 } } })
    await cli('services', 'update', 'web', '--sleep', 'off')
    expect(received().at(-1)?.body).toEqual({ serviceDetails: { sleep: { mode: 'off' } } })
    expect(await cli('services', 'update', 'web', '--sleep-after', '59s')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('1m to 7d'),
    })
    expect((await cli('services', 'update', 'web', '--sleep', 'deeply')).exitCode).toBe(2)
    expect((await cli('services', 'list')).stdout).toMatch(/web .* asleep /)
    const shown = (await cli('services', 'get', 'web')).stdout
    expect(shown).toContain('freeze after 900 s without a request')
    expect(shown).toMatch(/Asleep since: +2026-02-01T10:30:00.000Z/)
  })

  test('instances and events are tables', async () => {
    const cli = on({
      ...listed,
      listInstances: () => [
        {
          id: `${serviceId}-0a1b2`,
          createdAt: '2026-02-01T11:00:00.000Z',
          status: 'running',
          startedAt: '2026-02-01T11:30:00.000Z',
          restarts: 1,
        },
      ],
      listEvents: () =>
        pageOf('event', [
          {
            id: 'evt-0b1c2d3e4f5g6h7i8j9k',
            timestamp: '2026-02-01T11:00:00.000Z',
            serviceId,
            type: 'deploy_ended',
            details: { status: 'live', none: null },
          },
        ]),
    })
    expect((await cli('services', 'instances', 'web')).stdout).toBe(
      `INSTANCE                        STATUS   STARTED  RESTARTS\n${serviceId}-0a1b2  running  30m ago         1\n`,
    )
    expect((await cli('services', 'events', 'web')).stdout).toBe(
      'TIME                      EVENT         DETAILS\n2026-02-01T11:00:00.000Z  deploy_ended  status=live\n',
    )
  })
})
