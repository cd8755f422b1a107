import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { EnvVar, SecretFile } from '../../shared/env.ts'
import { deployId, exampleDatabase, exampleDeploy, exampleService, exampleStore, keyId, pageOf, serviceId } from './examples.ts'
import { type Answers, type FakeServer, startFakeServer } from './fake-server.ts'
import { cpctl, type TerminalOptions, temporaryFolder } from './terminal.ts'

let server: FakeServer
let folder: Awaited<ReturnType<typeof temporaryFolder>>
beforeEach(async () => {
  folder = await temporaryFolder()
})
afterEach(async () => {
  expect(server.breaches).toEqual([])
  await server.stop()
  await folder.remove()
})

/** A server that keeps variables and secret files. */
function keeping(initial: EnvVar[] = [], files: SecretFile[] = [], answers: Answers = {}) {
  const held = new Map(initial.map((entry) => [entry.key, entry]))
  let secretFiles = files
  server = startFakeServer({
    listServices: ({ query }) =>
      pageOf(
        'service',
        [exampleService()].filter(({ name }) => (query.name as string[]).includes(name)),
      ),
    listEnvVars: () => pageOf('envVar', [...held.values()]),
    setEnvVar: ({ params, body }) => {
      const entry = { key: params.key ?? '', value: (body as { value: string }).value }
      held.set(entry.key, entry)
      return entry
    },
    deleteEnvVar: ({ params }) => void held.delete(params.key ?? ''),
    replaceEnvVars: ({ body }) => {
      held.clear()
      for (const entry of body as EnvVar[]) held.set(entry.key, entry)
      return pageOf('envVar', [...held.values()])
    },
    listSecretFiles: () => pageOf('secretFile', secretFiles),
    replaceSecretFiles: ({ body }) => {
      secretFiles = body as SecretFile[]
      return pageOf('secretFile', secretFiles)
    },
    ...answers,
  })
  const run = (argv: string[], options: TerminalOptions = {}) =>
    cpctl(argv, { cwd: join(folder.path, 'web'), ...options, env: { CPCTL_URL: server.url, CPCTL_TOKEN: 'cpk_test', ...options.env } })
  return { run, held, files: () => secretFiles }
}

const next = 'It takes effect with the next deploy: --deploy makes one.\n'

describe('env', () => {
  test('list hides the values unless asked, in tables and in JSON', async () => {
    const { run } = keeping([
      { key: 'A', value: 'secret' },
      { key: 'LONG_NAME', value: '' },
    ])
    expect((await run(['env', 'list'])).stdout).toBe('KEY        VALUE\nA          ••••••••\nLONG_NAME  (empty)\n')
    expect((await run(['env', 'list', '--show'])).stdout).toBe('KEY        VALUE\nA          secret\nLONG_NAME  (empty)\n')
    expect((await run(['env', 'list', '--json'])).stdout).not.toContain('secret')
    expect(JSON.parse((await run(['env', 'list', '--json', '--show'])).stdout)[0].envVar).toEqual({ key: 'A', value: 'secret' })
  })

  test('set and unset change single variables', async () => {
    const { run, held } = keeping([{ key: 'KEEP', value: '1' }])
    expect(await run(['env', 'set', 'A=1', 'B=x=y', 'C='])).toMatchObject({ exitCode: 0, stdout: 'Set A, B, C of web.\n', stderr: next })
    expect([...held.values()].map(({ key, value }) => `${key}=${value}`)).toEqual(['KEEP=1', 'A=1', 'B=x=y', 'C='])
    expect((await run(['env', 'unset', 'A', 'B'])).stdout).toBe('Removed A, B of web.\n')
    expect([...held.keys()]).toEqual(['KEEP', 'C'])
    expect(await run(['env', 'set', 'A'])).toMatchObject({ exitCode: 2, stderr: 'Error: A is not KEY=value.\n' })
  })

  test('--deploy deploys with the new values, without a build', async () => {
    const { run } = keeping([], [], {
      createDeploy: () => exampleDeploy({ status: 'queued' }),
      getDeploy: () => exampleDeploy(),
      listLogs: () => ({ hasMore: false, logs: [], nextStartTime: '', nextEndTime: '' }),
    })
    const { stdout } = await run(['env', 'set', 'A=1', '--deploy'])
    expect(stdout).toBe('Set A of web.\nweb is live at http://web.localhost:8080 after 10.0 s\n')
    expect(server.received.find(({ id }) => id === 'createDeploy')?.body).toEqual({ deployMode: 'deploy_only' })
    expect(server.received.find(({ id }) => id === 'getDeploy')?.params).toEqual({ serviceId, deployId })
  })

  test('what export writes, import reads back', async () => {
    const hard = [
      { key: 'A', value: 'two words # no comment' },
      { key: 'B', value: 'line\nline "quoted" \\ end' },
      { key: 'C', value: '' },
    ]
    const source = keeping(hard)
    const { stdout } = await source.run(['env', 'export'])
    await server.stop()
    const target = keeping([{ key: 'OTHER', value: '1' }])
    expect((await target.run(['env', 'import', '-'], { stdin: stdout })).stdout).toBe('Imported 3 variables of web.\n')
    expect([...target.held.values()]).toEqual([{ key: 'OTHER', value: '1' }, ...hard])
    await writeFile(join(folder.path, '.env'), stdout)
    await target.run(['env', 'import', '../.env', '--replace'])
    expect([...target.held.values()]).toEqual(hard)
  })

  test('import leaves out what the platform gives, and says so', async () => {
    const { run, held } = keeping([])
    const imported = await run(['env', 'import', '-'], { stdin: 'PORT=3000\nA=1\n' })
    expect(imported).toMatchObject({ exitCode: 0, stdout: 'Imported 1 variable of web.\n' })
    expect(imported.stderr).toBe(`Left out, since the platform gives it: PORT\n${next}`)
    expect([...held.keys()]).toEqual(['A'])
  })

  test('platform lists what the platform gives, with what it is', async () => {
    const port = { envVar: { key: 'PORT', value: '(own to each instance)', description: 'Where the app must listen' } }
    const { run } = keeping([], [], { listPlatformEnv: () => [port] })
    const { stdout } = await run(['env', 'platform'])
    expect(stdout).toBe('KEY   VALUE                   WHAT IT IS\nPORT  (own to each instance)  Where the app must listen\n')
    expect(JSON.parse((await run(['env', 'platform', '--json'])).stdout)).toEqual([port])
  })

  const references: EnvVar[] = [
    { key: 'DATABASE_URL', value: '', fromDatabase: { id: 'dpg-0b1c2d3e4f5g6h7i8j9k-a', name: 'shop', property: 'connectionString' } },
    { key: 'REDIS_HOST', value: '', fromKeyValue: { id: 'red-0b1c2d3e4f5g6h7i8j9k', property: 'host' } },
  ]

  test('export writes the command that sets a reference, and no empty value', async () => {
    const { run } = keeping([{ key: 'A', value: '1' }, ...references])
    expect((await run(['env', 'export'])).stdout).toBe(
      [
        'A=1',
        '# cpctl env set web DATABASE_URL --from-postgres shop',
        '# cpctl env set web REDIS_HOST --from-kv red-0b1c2d3e4f5g6h7i8j9k --property host',
        '',
      ].join('\n'),
    )
  })

  test('export writes what references come to where that is asked for', async () => {
    const source = { type: 'service' as const }
    const resolved = [
      { key: 'PORT', value: '10000', source: { type: 'platform' as const } },
      { ...references[0], value: 'postgres://u:p@dpg/shop', source },
      { ...references[1], source, problem: 'refers to the key-value store red-…, which is gone' },
    ]
    const { run } = keeping([], [], { listEnvVars: () => pageOf('envVar', resolved) })
    expect((await run(['env', 'export', '--resolve'])).stdout).toBe(
      'DATABASE_URL=postgres://u:p@dpg/shop\n# REDIS_HOST refers to the key-value store red-…, which is gone\n',
    )
    const hidden = keeping([], [], { listEnvVars: () => pageOf('envVar', [{ ...references[0], source, hidden: true as const }]) })
    expect(await hidden.run(['env', 'export', '--resolve'])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('datastores.credentials'),
    })
  })

  test('export refuses to write names without values', async () => {
    const { run } = keeping([{ key: 'A', value: '', hidden: true }])
    expect(await run(['env', 'export'])).toMatchObject({ exitCode: 1, stdout: '' })
  })

  test('a file that is no .env file names the line', async () => {
    const { run } = keeping()
    await writeFile(join(folder.path, 'bad.env'), 'A=1\nnot a pair\n')
    expect(await run(['env', 'import', '../bad.env'])).toMatchObject({
      exitCode: 2,
      stderr: 'Error: ../bad.env: Line 2 is not KEY=value.\n',
    })
    expect((await run(['env', 'import', '../none.env'])).stderr).toContain('Cannot read ../none.env')
  })
})

describe('secret-files', () => {
  test('one file is changed or removed and the others are kept', async () => {
    const { run, files } = keeping([], [{ name: 'a.json', content: '{}' }])
    await writeFile(join(folder.path, 'key.pem'), 'PEM')
    expect(await run(['secret-files', 'set', '../key.pem'])).toMatchObject({ stdout: 'Set key.pem of web.\n', stderr: next })
    expect(files()).toEqual([
      { name: 'a.json', content: '{}' },
      { name: 'key.pem', content: 'PEM' },
    ])
    expect((await run(['secret-files', 'list'])).stdout).toBe('NAME\na.json\nkey.pem\n')
    await run(['secret-files', 'unset', 'a.json'])
    expect(files().map(({ name }) => name)).toEqual(['key.pem'])
    expect(await run(['secret-files', 'unset', 'nope'])).toMatchObject({ exitCode: 1 })
  })

  test('files whose contents may not be read are never overwritten', async () => {
    const { run, files } = keeping([], [{ name: 'a.json', content: '', hidden: true }])
    await writeFile(join(folder.path, 'key.pem'), 'PEM')
    expect(await run(['secret-files', 'set', '../key.pem'])).toMatchObject({ exitCode: 1 })
    expect(files()).toEqual([{ name: 'a.json', content: '', hidden: true }])
  })
})

describe('keys, roles, open and status', () => {
  const key = { id: keyId, name: 'ci', role: 'developer', created_at: '2026-02-01T11:00:00.000Z' }

  test('keys are listed, made and revoked by name', async () => {
    const { run } = keeping([], [], {
      listApiKeys: () => [key],
      getApiKey: () => ({ ...key, scope: null, expires_at: null, last_used_at: null, created_by: 'static_token' }),
      createApiKey: () => ({ ...key, secret: 'cpk_new' }),
      revokeApiKey: () => undefined,
    })
    expect((await run(['keys', 'list'])).stdout).toBe(
      `NAME  ROLE       SCOPE       EXPIRES  LAST USED  ID\nci    developer  everything  never    never      ${keyId}\n`,
    )
    const created = await run(['keys', 'create', 'ci', '--role', 'developer'])
    expect(created).toMatchObject({
      stdout: 'cpk_new\n',
      stderr: `Created ci (${keyId}, role developer). Keep the key: it is not shown again.\n`,
    })
    expect((await run(['keys', 'revoke', 'ci'])).stdout).toBe(`Revoked ci (${keyId}).\n`)
    expect(await run(['keys', 'revoke', 'nope'])).toMatchObject({
      exitCode: 1,
      stderr: 'Error: There is no API key nope.\ncpctl keys list shows them.\n',
    })
  })

  test('roles show what they may do', async () => {
    const role = {
      id: 'rol-0b1c2d3e4f5g6h7i8j9k',
      name: 'viewer',
      description: '',
      permissions: ['services.read', 'logs.read'],
      builtIn: true,
      createdAt: '2026-02-01T11:00:00.000Z',
      updatedAt: '2026-02-01T11:00:00.000Z',
    }
    const { run } = keeping([], [], { listRoles: () => pageOf('role', [role]) })
    expect((await run(['roles', 'list'])).stdout).toBe('NAME    KIND      PERMISSIONS\nviewer  built-in  services.read logs.read\n')
  })

  test('open prints the URL and shows it in a browser', async () => {
    const { run } = keeping()
    expect(await run(['open'], { env: { DISPLAY: ':0' } })).toMatchObject({
      exitCode: 0,
      stdout: 'http://web.localhost:8080\n',
      browsed: ['http://web.localhost:8080'],
    })
  })

  test('status shows the checks, and a server that is down exits with 1', async () => {
    const health = {
      status: 'ok',
      version: '0.1.0',
      checks: { database: { status: 'ok' }, ingress: { status: 'ok', message: '2 routes' } },
    }
    const { run } = keeping([], [], { health: () => health })
    expect((await run(['status'])).stdout).toBe(
      `Server:  ${server.url}\nVersion: 0.1.0\nStatus:  ok\n\nCOMPONENT  STATUS  MESSAGE\ndatabase   ok\ningress    ok      2 routes\n`,
    )
    await server.stop()
    const ill = keeping([], [], {
      health: () => health,
      listPostgres: () => pageOf('postgres', [exampleDatabase, { ...exampleDatabase, name: 'orders', status: 'unavailable' }]),
      listKeyValue: () => pageOf('keyValue', [{ ...exampleStore, diskState: 'full', backupProblem: 'Its newest backup failed: no room' }]),
    })
    const told = await ill.run(['status'], { columns: 120 })
    expect(told.stdout).toContain('Databases: 3, 2 available, 2 not well')
    expect(told.stdout).toMatch(/orders +unavailable[\s\S]*cache +available +Its disk is full.*Its newest backup failed: no room/)
    expect(JSON.parse((await ill.run(['status', '--json'])).stdout)).toMatchObject({ status: 'ok', datastores: { count: 3 } })
    await server.stop()
    const down = keeping([], [], { health: () => ({ ...health, status: 'down' }) })
    expect(await down.run(['status'])).toMatchObject({ exitCode: 1 })
  })
})

test('the package says which version cpctl prints', async () => {
  server = startFakeServer({})
  const { version } = JSON.parse(await readFile(join(import.meta.dirname, '../../package.json'), 'utf8'))
  expect(await cpctl(['--version'])).toMatchObject({ exitCode: 0, stdout: `${version}\n` })
})
