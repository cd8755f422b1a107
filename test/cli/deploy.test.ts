import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Interrupted } from '../../cli/base/error.ts'
import type { Deploy, DeployStatus } from '../../shared/deploy.ts'
import { AppError } from '../../shared/error.ts'
import type { Log } from '../../shared/log.ts'
import type { Service } from '../../shared/service.ts'
import { deployId, exampleDeploy, exampleService, pageOf, serviceId } from './examples.ts'
import { type Answers, type FakeServer, startFakeServer } from './fake-server.ts'
import { cpctl, type TerminalOptions, temporaryFolder } from './terminal.ts'

let server: FakeServer
let folder: Awaited<ReturnType<typeof temporaryFolder>>
beforeEach(async () => {
  folder = await temporaryFolder()
  await mkdir(join(folder.path, 'web'))
  await writeFile(join(folder.path, 'web/package.json'), '{}')
})
afterEach(async () => {
  expect(server.breaches).toEqual([])
  await server.stop()
  await folder.remove()
})

const sourceId = 'src-0b1c2d3e4f5g6h7i8j9k'
const buildLog = (number: number, message: string): Log => ({
  id: `log-${number}`,
  message,
  timestamp: `2026-02-01T11:59:0${number}.000000Z`,
  labels: [
    { name: 'resource', value: serviceId },
    { name: 'type', value: 'build' },
  ],
})

interface Scenario {
  existing?: Service[]
  /** Statuses that getDeploy answers in turn; the last stays. */
  statuses?: DeployStatus[]
  ended?: Partial<Deploy>
  answers?: Answers
}

interface Uploaded {
  bytes: number
  type: string | null
}

function platform({
  existing = [],
  statuses = ['build_in_progress', 'update_in_progress', 'live'],
  ended = {},
  answers = {},
}: Scenario = {}) {
  const uploads: Uploaded[] = []
  const left = [...statuses]
  server = startFakeServer(
    {
      listServices: ({ query }) =>
        pageOf(
          'service',
          existing.filter(({ name }) => (query.name as string[]).includes(name)),
        ),
      createService: ({ body }) => ({ service: exampleService(body as Partial<Service>) }),
      uploadSource: async ({ request, headers }) => {
        uploads.push({ bytes: (await request.bytes()).length, type: headers.get('content-type') })
        return { source: { id: sourceId, sha256: '0'.repeat(64), sizeBytes: 1, fileCount: 1 }, deployId }
      },
      getDeploy: () => {
        const status = left.length > 1 ? (left.shift() as DeployStatus) : (left[0] as DeployStatus)
        const { finishedAt: _, ...running } = exampleDeploy({ status })
        return left.length > 1 || status !== statuses.at(-1) ? running : exampleDeploy({ status, ...ended })
      },
      listLogs: () => ({
        hasMore: false,
        nextStartTime: '2026-02-01T12:00:00.000Z',
        nextEndTime: '2026-02-01T12:00:00.000Z',
        logs: [buildLog(1, 'npm ci'), buildLog(2, 'done \u001b[32mwell\u001b[0m')],
      }),
      ...answers,
    },
    { webSocket: (_, socket) => socket.send(JSON.stringify(buildLog(1, 'npm ci'))) },
  )
  const run = (argv: string[], options: TerminalOptions = {}) =>
    cpctl(argv, {
      cwd: join(folder.path, 'web'),
      ...options,
      env: { CPCTL_URL: server.url, CPCTL_TOKEN: 'cpk_test', NO_COLOR: '1', ...options.env },
    })
  return { run, uploads }
}

const called = (id: string) => server.received.filter((call) => call.id === id)

describe('deploy', () => {
  test('creates the service named after the folder, shows the build log once and ends with the URL', async () => {
    const { run, uploads } = platform()
    const { exitCode, stdout, stderr } = await run(['deploy'])
    expect(stderr).toBe(
      [
        `Created web_service web (${serviceId})`,
        'Uploading 1 file, 2 B',
        `Deploying web (${deployId})`,
        'Building …',
        'Starting the new release …',
        '',
      ].join('\n'),
    )
    expect(stdout).toBe('npm ci\ndone well\nweb is live at http://web.localhost:8080 after 10.0 s\n')
    expect(exitCode).toBe(0)
    expect(called('createService')[0]?.body).toEqual({ type: 'web_service', name: 'web' })
    expect(uploads).toEqual([{ bytes: uploads[0]?.bytes, type: 'application/gzip' }])
    expect(called('uploadSource')[0]?.query).toEqual({ deploy: 'true' })
  })

  test('uses a service that is there, with the settings and variables given', async () => {
    const { run } = platform({
      existing: [exampleService({ name: 'site' })],
      answers: { updateService: () => exampleService({ name: 'site' }), setEnvVar: ({ params }) => ({ key: params.key, value: '' }) },
    })
    await writeFile(join(folder.path, 'web/.env.production'), 'A=1\nB="two words"\n')
    const argv = ['deploy', '--service', 'site', '--start-command', 'bun app.ts', '--env-file', '.env.production', '-e', 'A=2']
    expect((await run(argv)).exitCode).toBe(0)
    expect(called('createService')).toEqual([])
    expect(called('updateService')[0]?.body).toEqual({ serviceDetails: { envSpecificDetails: { startCommand: 'bun app.ts' } } })
    expect(called('setEnvVar').map(({ params, body }) => [params.key, body])).toEqual([
      ['A', { value: '2' }],
      ['B', { value: 'two words' }],
    ])
  })

  test('a folder with a page and no program becomes a static site', async () => {
    await mkdir(join(folder.path, 'docs'))
    await writeFile(join(folder.path, 'docs/index.html'), '<h1>hi')
    const { run } = platform()
    await run(['deploy', '../docs', '--env', 'X=1'])
    expect(called('createService')[0]?.body).toEqual({ type: 'static_site', name: 'docs', envVars: [{ key: 'X', value: '1' }] })
  })

  describe('of a release that is watched', () => {
    const watched = exampleDeploy({ guardedUntil: '2026-02-01T11:59:40.000Z' })
    const said = 'It is watched for 30 s: if it does far worse than the release before, that one comes back by itself.\n'
    const ends = (verdict: Deploy) => {
      const left = [watched, watched, verdict]
      return platform({ answers: { getDeploy: () => (left.length > 1 ? left.shift() : left[0]) } }).run
    }

    test('says so and does not wait for the verdict', async () => {
      const { exitCode, stdout, stderr } = await ends(watched)(['deploy'])
      expect(exitCode).toBe(0)
      expect(stdout).toContain('web is live at http://web.localhost:8080 after 10.0 s\n')
      expect(stderr).toContain(said)
    })
    test('waits for it with --until-proven', async () => {
      const { exitCode, stdout, stderr } = await ends(exampleDeploy())(['deploy', '--until-proven'])
      expect(exitCode).toBe(0)
      expect(stderr).toContain(said)
      expect(stdout).toMatch(/is live at .*\nIt has passed\.\n$/)
    })
    test('then exits with 1 and the figures when the one before has come back', async () => {
      const { exitCode, stderr } = await ends(exampleDeploy({ status: 'update_failed', reason: '53 of 104 requests failed.' }))([
        'deploy',
        '--until-proven',
      ])
      expect(exitCode).toBe(1)
      expect(stderr).toContain('Error: The new release was taken back. 53 of 104 requests failed.\n')
    })
    test('prints one deploy as JSON, the one with the verdict', async () => {
      const run = ends(exampleDeploy())
      expect(JSON.parse((await run(['deploy', '--until-proven', '--json'])).stdout)).toEqual(exampleDeploy())
    })
    test('refuses to wait and not to wait', async () => {
      expect((await ends(watched)(['deploy', '--until-proven', '--detach'])).exitCode).toBe(2)
    })
    test('is marked in the list', async () => {
      const { run } = platform({
        existing: [exampleService()],
        answers: { listDeploys: () => pageOf('deploy', [watched]) },
      })
      expect((await run(['deploys', 'list', 'web'])).stdout).toContain('  live (watched)  ')
    })
  })

  test('a failed deploy exits with 1 and its reason', async () => {
    const { run } = platform({ statuses: ['build_in_progress', 'build_failed'], ended: { reason: 'npm ci exited with 1.' } })
    const { exitCode, stderr } = await run(['deploy'])
    expect(exitCode).toBe(1)
    expect(stderr).toContain('Error: The deploy failed to build: npm ci exited with 1.\nNothing else has changed.')
  })

  test('--detach does not wait, --json prints the deploy', async () => {
    const { run } = platform({ statuses: ['queued'] })
    const detached = await run(['deploy', '--detach'])
    expect(detached).toMatchObject({ exitCode: 0, stdout: `Started deploy ${deployId} of web.\n` })
    await server.stop()
    const json = await platform().run(['deploy', '--json'])
    expect(json.stderr).toBe('')
    expect(JSON.parse(json.stdout)).toEqual(exampleDeploy())
  })

  test('to a suspended service is refused before anything is sent', async () => {
    const { run, uploads } = platform({ existing: [exampleService({ suspended: 'suspended' })] })
    const { exitCode, stderr } = await run(['deploy'])
    expect(stderr).toBe('Error: web is suspended.\nRun cpctl services resume web first.\n')
    expect(exitCode).toBe(1)
    expect(uploads).toEqual([])
  })
  test('Ctrl-C stops watching and says how to cancel', async () => {
    const { run } = platform({ statuses: ['build_in_progress'] })
    const ctrlC = new AbortController()
    const onOutput = (text: string) => {
      if (text.includes('Building')) ctrlC.abort(new Interrupted())
    }
    const { exitCode, stderr } = await run(['deploy'], { interrupted: ctrlC.signal, onOutput })
    expect(exitCode).toBe(130)
    expect(stderr).toContain(`deploy ${deployId} goes on.\nTo cancel it: cpctl deploys cancel ${deployId} --service web\n`)
  })

  test('a refused upload says why', async () => {
    const { run } = platform({
      answers: {
        uploadSource: () => {
          throw new AppError('payload_too_large', 'The source is larger than 512 MB.')
        },
      },
    })
    expect(await run(['deploy'])).toMatchObject({ exitCode: 1 })
    expect((await run(['deploy'])).stderr).toContain('Error: The source is larger than 512 MB.')
  })

  test('on a terminal a folder that stands for no service asks which is meant', async () => {
    const { run } = platform({
      existing: [exampleService({ name: 'site' })],
      answers: { updateService: () => exampleService({ name: 'site' }) },
    })
    const other = await run(['deploy'], { typed: ['site'] })
    expect(other.stderr).toContain('There is no service web. Enter makes it; or type the name of the one to deploy to:')
    expect(other.stderr).toContain('Next time: cpctl deploy --service site\n')
    expect(called('createService')).toEqual([])
    expect((await run(['deploy'], { typed: [''] })).exitCode).toBe(0)
    expect(called('createService')[0]?.body).toMatchObject({ name: 'web' })
  })

  test('more than the server takes is refused before it is sent, with the largest files', async () => {
    const { run } = platform({ answers: { getUploadLimits: () => ({ maxBytes: 1, maxUnpackedBytes: 1, maxFiles: 9 }) } })
    const { exitCode, stderr } = await run(['deploy'])
    expect(exitCode).toBe(1)
    expect(stderr).toContain('Error: The folder holds 2 B, and this server takes 1 B at most.\nThe largest files:\n')
    expect(stderr).toContain('2 B  package.json\n')
    expect(called('uploadSource')).toEqual([])
  })

  test('a .env that goes along is warned of', async () => {
    await writeFile(join(folder.path, 'web/.env'), 'A=1')
    const { run } = platform()
    expect((await run(['deploy'])).stderr).toContain('Warning: .env goes along with the source.')
  })

  test('a terminal sees a progress bar', async () => {
    const { run } = platform()
    const { stderr } = await run(['deploy'], { isTty: true })
    expect(stderr).toContain('Uploading 1 file, 2 B ████████████████████████ 100%')
  })

  test('a change of type is refused before anything is sent', async () => {
    const { run } = platform({ existing: [exampleService()] })
    expect((await run(['deploy', '--type', 'static_site'])).exitCode).toBe(2)
    expect(called('uploadSource')).toEqual([])
  })
})

describe('deploys', () => {
  test('list is a table', async () => {
    const failed = exampleDeploy({ status: 'build_failed', reason: 'No start command.' })
    const { run } = platform({ existing: [exampleService()], answers: { listDeploys: () => pageOf('deploy', [exampleDeploy(), failed]) } })
    expect((await run(['deploys', 'list'])).stdout).toBe(
      [
        'DEPLOY                    STATUS        TRIGGER  CREATED    TOOK  REASON',
        `${deployId}  live          api      1m ago   10.0 s`,
        `${deployId}  build_failed  api      1m ago   10.0 s  No start command.`,
        '',
      ].join('\n'),
    )
  })

  test('list tells commits where there are some, without what would steer the terminal', async () => {
    const commit = { id: '1f0e3dad99908345f7439f8ffabdffc4f6b2a0d3', message: 'Say \u001b[31mhello\n\nAt length', author: 'Grace' }
    const deploys = [exampleDeploy({ status: 'queued', ref: 'v1.2.0' }), exampleDeploy({ commit })]
    const { run } = platform({ existing: [exampleService()], answers: { listDeploys: () => pageOf('deploy', deploys) } })
    const { stdout } = await run(['deploys', 'list'])
    expect(stdout).toContain('v1.2.0')
    expect(stdout).toMatch(/ 1f0e3dad Grace Say .*hello {2}/)
    expect(stdout).not.toContain('\u001b')
    expect(stdout).not.toContain('At length')
  })

  test('list tells which commit waits, and for what, beside the table', async () => {
    const waiting = { commitId: 'a'.repeat(40), message: 'Mend it\n\nAt length', since: '2026-02-01T11:00:00.000Z', for: 'its check ci/1' }
    const service = exampleService({ repo: 'https://example.com/acme/shop', repositoryState: { waiting } })
    const { run } = platform({ existing: [service], answers: { listDeploys: () => pageOf('deploy', [exampleDeploy()]) } })
    expect((await run(['deploys', 'list'])).stderr).toMatch(/^Commit aaaaaaaa Mend it has waited for \d+[smhd] for its check ci\/1\.\n$/)
    expect((await run(['deploys', 'list', '--json'])).stderr).toBe('')
  })

  test('create deploys a ref, and nothing else beside it', async () => {
    const { run } = platform({ existing: [exampleService()], answers: { createDeploy: () => exampleDeploy({ status: 'queued' }) } })
    expect((await run(['deploys', 'create', '--ref', 'v1.2.0', '-d'])).exitCode).toBe(0)
    expect(called('createDeploy')[0]?.body).toEqual({ ref: 'v1.2.0' })
    expect((await run(['deploys', 'create', '--ref', 'v1.2.0', '--from', 'web-staging'])).exitCode).toBe(2)
  })

  test('get and cancel find the service of a deploy by themselves', async () => {
    const other = exampleService({ id: 'srv-1b1c2d3e4f5g6h7i8j9k', name: 'api' })
    const answers: Answers = {
      listServices: ({ query }) => pageOf('service', query.name === undefined ? [exampleService({ name: 'x' }), other] : []),
      getDeploy: ({ params }) => {
        if (params.serviceId !== other.id) throw new AppError('not_found', 'No such deploy.')
        return exampleDeploy()
      },
      cancelDeploy: () => exampleDeploy({ status: 'canceled' }),
    }
    const { run } = platform({ answers })
    expect((await run(['deploys', 'get', deployId])).stdout).toContain(`Service:  api (${other.id})\nStatus:   live\n`)
    expect((await run(['deploys', 'cancel', deployId])).stdout).toBe(`Canceled ${deployId} of api.\n`)
    expect(await run(['deploys', 'get', 'latest'])).toMatchObject({ exitCode: 2 })
  })

  test('create deploys the present source again', async () => {
    const { run } = platform({ existing: [exampleService()], answers: { createDeploy: () => exampleDeploy({ status: 'queued' }) } })
    const { exitCode, stdout } = await run(['deploys', 'create', '--no-build'])
    expect({ exitCode, last: stdout.trim().split('\n').at(-1) }).toEqual({
      exitCode: 0,
      last: 'web is live at http://web.localhost:8080 after 10.0 s',
    })
    expect(called('createDeploy')[0]?.body).toEqual({ deployMode: 'deploy_only' })
  })

  test('create deploys what is live in another service', async () => {
    const sourceId = 'src-0b1c2d3e4f5g6h7i8j9k'
    const other = exampleService({ id: 'srv-1b1c2d3e4f5g6h7i8j9k', name: 'web-staging' })
    let live = [exampleDeploy({ source: { id: sourceId, sha256: '0'.repeat(64) } })]
    const { run } = platform({
      existing: [exampleService(), other],
      answers: { listDeploys: () => pageOf('deploy', live), createDeploy: () => exampleDeploy({ status: 'queued' }) },
    })
    expect((await run(['deploys', 'create', 'web', '--from', 'web-staging', '-d'])).exitCode).toBe(0)
    expect(called('createDeploy')[0]).toMatchObject({ params: { serviceId }, body: { sourceId } })
    expect((await run(['deploys', 'create', 'web', '--from', 'web-staging', '--no-build'])).exitCode).toBe(2)
    live = []
    expect((await run(['deploys', 'create', 'web', '--from', 'web-staging'])).stderr).toContain('Nothing is live in web-staging.')
  })
})

describe('rollback', () => {
  const plan = {
    fromDeployId: deployId,
    toDeployId: 'dep-1b1c2d3e4f5g6h7i8j9k',
    code: { changes: true, from: 'aaaa', to: 'bbbb' },
    envVars: { added: ['OLD'], removed: ['NEW'], changed: ['BOTH'] },
    secretFiles: { added: [], removed: [], changed: [] },
    settings: [{ name: 'plan', from: 'pro', to: 'starter' }],
    strategy: 'rolling' as const,
  }

  test('--dry-run prints the difference', async () => {
    const { run } = platform({ existing: [exampleService()], answers: { rollback: () => plan } })
    expect((await run(['rollback', '--dry-run'])).stdout).toBe(
      [
        `Rolling back from ${deployId} to dep-1b1c2d3e4f5g6h7i8j9k would change:`,
        '  code: aaaa -> bbbb',
        '  + variable OLD',
        '  - variable NEW',
        '  ~ variable BOTH',
        '  plan: pro -> starter',
        '',
      ].join('\n'),
    )
    expect(called('rollback')[0]?.body).toEqual({ dryRun: true })
  })

  test('waits until the older release is live', async () => {
    const { run } = platform({
      existing: [exampleService()],
      answers: { rollback: () => exampleDeploy({ status: 'update_in_progress', trigger: 'rollback' }) },
    })
    const { exitCode, stdout } = await run(['rollback', deployId])
    expect(exitCode).toBe(0)
    expect(stdout).toContain('web is live at')
    expect(called('rollback')[0]?.body).toEqual({ deployId })
  })
})
