import { afterEach, expect, test } from 'vitest'
import { formatAnswer } from '../../cli/key-value/answer.ts'
import { clientArguments } from '../../cli/key-value/client-program.ts'
import { wordsIn } from '../../cli/key-value/words.ts'
import type { Backup } from '../../shared/backup.ts'
import type { KeyValue } from '../../shared/key-value.ts'
import { pageOf } from './examples.ts'
import { type Answers, type FakeServer, startFakeServer } from './fake-server.ts'
import { cpctl, type TerminalOptions } from './terminal.ts'

let server: FakeServer
afterEach(async () => {
  expect(server?.breaches ?? []).toEqual([])
  await server?.stop()
})

const id = 'red-0b1c2d3e4f5g6h7i8j9k'
const at = '2026-02-01T11:00:00.000Z'
const store = (fields: Partial<KeyValue> = {}): KeyValue => ({
  id,
  name: 'cache',
  owner: { id: 'tea-0b1c2d3e4f5g6h7i8j9k', name: 'Acme', email: 'ada@example.com', type: 'team' },
  plan: 'starter',
  region: 'oregon',
  status: 'available',
  version: '9',
  ipAllowList: [],
  diskState: 'ok',
  suspended: 'not_suspended',
  suspenders: [],
  createdAt: at,
  updatedAt: at,
  dashboardUrl: 'http://localhost/docs',
  options: { maxmemoryPolicy: 'allkeys_lru', persistenceMode: 'journal_snapshot' },
  ...fields,
})

function serving(answers: Answers) {
  server = startFakeServer({ listKeyValue: () => pageOf('keyValue', [store()]), ...answers })
  return (argv: string[], options: TerminalOptions = {}) =>
    cpctl(argv, { ...options, env: { CPCTL_URL: server.url, CPCTL_TOKEN: 'cpk_test' } })
}

test('create waits until the store is there, and says how to go on', async () => {
  const states = ['creating', 'available'] as const
  let asked = 0
  const run = serving({
    createKeyValue: ({ body }) => {
      expect(body).toEqual({ name: 'cache', plan: 'standard', maxmemoryPolicy: 'allkeys-lru', ipAllowList: [] })
      return store({ status: 'creating' })
    },
    getKeyValue: () => store({ status: states[asked++] ?? 'available' }),
  })
  const { exitCode, stdout, stderr } = await run([
    'kv',
    'create',
    'cache',
    '--plan',
    'standard',
    '--policy',
    'allkeys-lru',
    '--allow-ip',
    'nobody',
  ])
  expect(exitCode).toBe(0)
  expect(stdout).toContain(`Created cache (${id}): available.`)
  expect(stderr).toContain('cache is creating')
})

test('list and get show what there is', async () => {
  const run = serving({})
  expect((await run(['kv', 'ls'], { columns: 160 })).stdout).toMatch(/cache +red-0b1c2d3e4f5g6h7i8j9k +starter +9 +allkeys_lru/)
  expect((await run(['kv', 'get', 'cache'])).stdout).toContain('nobody from outside')
  expect((await run(['kv', 'get', 'cash'])).stderr).toContain('Did you mean cache?')
})

test('update changes what is named, and refuses to change nothing', async () => {
  const run = serving({
    updateKeyValue: ({ body }) => {
      expect(body).toEqual({ persistenceMode: 'journal-snapshot' })
      return store()
    },
  })
  expect((await run(['kv', 'update', 'cache', '--persistence', 'journal-snapshot'])).stdout).toBe('Changed cache.\n')
  expect((await run(['kv', 'update', 'cache'])).exitCode).toBe(2)
})

test('a rotation tells which passwords are good', async () => {
  const run = serving({
    rotateKeyValueCredentials: ({ body }) => {
      expect(body).toEqual({ formerValidHours: 2 })
      const former = { username: id, default: false, createdAt: at, expiresAt: '2026-02-01T13:00:00.000Z' }
      const touched = [{ id: 'srv-0b1c2d3e4f5g6h7i8j9k', name: 'shop', envVars: ['REDIS_URL'], secretFiles: [] }]
      return { credentials: [{ username: id, default: true, createdAt: at }, former], touched }
    },
  })
  const { stdout, stderr } = await run(['kv', 'credentials', 'cache', '--rotate', '--former-hours', '2'])
  expect(stdout).toMatch(/it is replaced[\s\S]*2026-02-01T13:00:00.000Z[\s\S]*shop +REDIS_URL/)
  expect(stderr).toContain('It takes effect with their next deploys: --deploy makes them.')
})

test('info says where there is no way in from outside, and cli then says what to do', async () => {
  const run = serving({
    getKeyValueConnectionInfo: () => ({
      internalConnectionString: `redis://${id}:pw@${id}:6379`,
      externalConnectionString: '',
      cliCommand: '',
    }),
  })
  expect((await run(['kv', 'info', 'cache'])).stdout).toContain('CP_INGRESS_KEY_VALUE')
  const { exitCode, stderr } = await run(['kv', 'cli', 'cache', 'PING'])
  expect(exitCode).toBe(1)
  expect(stderr).toContain('CP_INGRESS_KEY_VALUE')
})

test('programs of the machine are given the password where nobody else sees it', () => {
  const { args, env } = clientArguments({ url: `rediss://${id}:pw@kv.example.com:6380`, words: ['GET', 'a'], isInsecure: false })
  expect(args).toEqual(['-h', 'kv.example.com', '-p', '6380', '--user', id, '--tls', '--sni', 'kv.example.com', 'GET', 'a'])
  expect(env).toEqual({ REDISCLI_AUTH: 'pw' })
  const local = clientArguments({ url: `rediss://${id}:pw@kv.localhost:6380`, words: [], isInsecure: true }).args
  expect(local).toEqual(['-h', '127.0.0.1', '-p', '6380', '--user', id, '--tls', '--sni', 'kv.localhost', '--insecure'])
})

test('lines are read, and answers shown, as redis-cli does', () => {
  expect(wordsIn(String.raw`SET "a key" 'it''s' "x\"\n"`.replace("''", ''))).toEqual(['SET', 'a key', 'its', 'x"\n'])
  expect(() => wordsIn('SET "open')).toThrow('not closed')
  expect(formatAnswer(['a', 1, null, ['b']])).toBe('1) "a"\n2) (integer) 1\n3) (nil)\n4) 1) "b"')
  expect([formatAnswer('OK'), formatAnswer([]), formatAnswer({ a: 1 })]).toEqual(['OK', '(empty list)', '1) "a"\n2) (integer) 1'])
})

test('another plan is a restart that is waited for, and whoever is cut off is told of before', async () => {
  const statuses = ['config_restart', 'available'] as const
  let asked = 0
  const open = store({ ipAllowList: [{ cidrBlock: '203.0.113.0/24', description: '' }] })
  const run = serving({
    listKeyValue: () => pageOf('keyValue', [open]),
    updateKeyValue: () => store({ status: 'config_restart' }),
    getKeyValue: () => store({ status: statuses[asked++] ?? 'available' }),
  })
  const { stdout, stderr } = await run(['kv', 'update', 'cache', '--plan', 'pro'])
  expect({ stdout, stderr }).toEqual({
    stdout: 'Changed cache. It restarted, and is available.\n',
    stderr: expect.stringContaining('cache restarts for this'),
  })
  expect(await run(['kv', 'update', 'cache', '--allow-ip', 'nobody'])).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('who connects from 203.0.113.0/24 is cut off'),
  })
  expect((await run(['kv', 'update', 'cache', '--allow-ip', 'nobody', '--yes'])).stdout).toBe('Changed cache.\n')
})

test('restart waits until the store is back, and top shows what it does', async () => {
  const run = serving({
    restartKeyValue: () => undefined,
    getKeyValue: () => store(),
    getKeyValueStats: () => ({
      ...{ version: '9.1.2', connections: 3, connectionLimit: 250, usedMemoryBytes: 1024 * 1024 },
      ...{ maxMemoryBytes: 4 * 1024 * 1024, keys: 5, hits: 3, misses: 1, hitRatio: 0.75, evictions: 2, expirations: 1 },
      commands: [{ command: 'GET', calls: 4, totalMs: 0.008, failed: 1 }],
    }),
  })
  expect((await run(['kv', 'restart', 'cache'])).stdout).toBe('cache is available.\n')
  const { stdout } = await run(['kv', 'top', 'cache'])
  expect(stdout).toMatch(
    /1\.0 MB of 4\.0 MB \(25\.0 %\)[\s\S]*5, 2 evicted, 1 expired[\s\S]*3 found, 1 not \(75\.0 % found\)[\s\S]*3 of 250/,
  )
  expect(stdout).toMatch(/GET +4 +0 ms +2\.0 µs +1/)
  expect(JSON.parse((await run(['kv', 'stats', 'cache', '--json'])).stdout)).toMatchObject({ keys: 5 })
})

test('backups are listed and taken, and one that fails says why', async () => {
  const backup = { id: 'bak-0b1c2d3e4f5g6h7i8j9k', kind: 'full', origin: 'manual', status: 'creating', createdAt: at } as const
  const done = { ...backup, status: 'available', completedAt: at, sizeBytes: 2048, restoreSeconds: 1.5 } as const
  let newest: Backup = backup
  const run = serving({
    listKeyValueBackups: () => {
      const page = pageOf('backup', [newest])
      newest = newest.status === 'creating' ? done : newest
      return page
    },
    createKeyValueBackup: () => backup,
  })
  expect((await run(['kv', 'backups', 'create', 'cache'])).stdout).toBe(
    'The backup bak-0b1c2d3e4f5g6h7i8j9k is being taken.\nThe backup bak-0b1c2d3e4f5g6h7i8j9k is complete.\n',
  )
  expect((await run(['kv', 'backups', 'ls', 'cache'], { columns: 200 })).stdout).toMatch(
    /bak-\w+ +full +available +\S+ +2\.0 KB +in 1\.5 s/,
  )
  newest = { ...backup, status: 'failed', reason: 'the disk is full' }
  expect(await run(['kv', 'backups', 'create', id])).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('the disk is full') })
})

test('a recovery makes a new store, of one that is gone as well, and says when it failed', async () => {
  const made = store({ name: 'before', status: 'recovery_in_progress' })
  let end: KeyValue['status'] = 'available'
  const run = serving({
    startKeyValueRecovery: () => made,
    getKeyValue: () => ({ ...made, status: end }),
  })
  const recovered = await run(['kv', 'recover', 'cache', '--backup', 'bak-0b1c2d3e4f5g6h7i8j9k', '--name', 'before', '--plan', 'pro'])
  expect(recovered.stdout).toMatch(/^before \(red-\w+\) is being made\.\nbefore is available after .*: cpctl kv info before tells/)
  expect(server.received.find((call) => call.id === 'startKeyValueRecovery')?.body).toEqual({
    ...{ backupId: 'bak-0b1c2d3e4f5g6h7i8j9k', name: 'before', plan: 'pro' },
  })
  expect((await run(['kv', 'recover', id, '--no-wait'])).stdout).toBe(`before (${id}) is being made.\n`)
  end = 'recovery_failed'
  expect(await run(['kv', 'recover', 'cache'])).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('The recovery failed.') })
})
