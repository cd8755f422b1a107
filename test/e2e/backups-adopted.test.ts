import { readdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { DescribedSet } from '../../server/boot/serve-socket/operations.ts'
import { type RunResult, runProcess } from '../../server/platform/process/spawn.ts'
import type { KeyValue } from '../../shared/key-value.ts'
import type { Postgres } from '../../shared/postgres.ts'
import { type Compiled, ownEnv, startCompiled } from '../support/compiled.ts'
import { freePorts } from '../support/free-ports.ts'
import { type S3Server, startS3 } from '../support/s3-server.ts'
import { until } from '../support/until.ts'

const LONG_MS = 120_000
const LOST_BUCKET = 'after-the-loss'

let s3: S3Server
let lost: Compiled
let other: Compiled | undefined
beforeAll(async () => {
  s3 = await startS3()
  lost = await startCompiled({ env: envOf(s3.settings.CP_BACKUP_S3_BUCKET) })
})
afterAll(async () => {
  await other?.stop()
  await s3.close()
})

function envOf(bucket: string): Record<string, string> {
  const [keyValue] = freePorts(1)
  return { ...s3.settings, CP_BACKUP_S3_BUCKET: bucket, CP_INGRESS_KEY_VALUE: `127.0.0.1:${keyValue}`, CP_BASE_DOMAIN: 'localhost' }
}

/** What the operator types on the machine of a server, with nothing in the environment. */
const cpd = ({ paths }: Compiled, words: readonly string[], input?: string): Promise<RunResult> =>
  runProcess([resolve('dist/cpd'), ...words, '--data', paths.data], { env: ownEnv(), cwd: '/', ...(input !== undefined && { input }) })

async function cpdJson<T>(server: Compiled, words: readonly string[]): Promise<T> {
  const { exitCode, stdout, stderr } = await cpd(server, [...words, '--json'])
  expect({ words, exitCode, stderr }).toEqual({ words, exitCode: 0, stderr: '' })
  return JSON.parse(stdout) as T
}

async function cpctl(server: Compiled, ...words: string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await server.cpctl(words)
  expect({ words, exitCode }, stderr).toEqual({ words, exitCode: 0 })
  return stdout
}

const made = async <T>(server: Compiled, ...words: string[]): Promise<T> => JSON.parse(await cpctl(server, ...words, '--json')) as T

const sql = (server: Compiled, database: string, text: string) => cpctl(server, 'postgres', 'psql', database, '--built-in', '-c', text)
const send = (server: Compiled, store: string, ...words: string[]) =>
  cpctl(server, 'kv', 'cli', store, '--built-in', '--insecure', ...words)

const stateOf = (sets: readonly DescribedSet[]) => sets.map(({ id, name, state }) => ({ id, name, state })).toSorted(byId)
const byId = (one: { id: string }, next: { id: string }): number => one.id.localeCompare(next.id)

it('a database and a store are listed, adopted and recovered on another machine, out of the bucket and the key alone', async () => {
  const database = await made<Postgres>(lost, 'postgres', 'create', 'shop')
  const store = await made<KeyValue>(lost, 'kv', 'create', 'cache', '--allow-ip', 'everywhere')
  await sql(lost, 'shop', 'CREATE TABLE rows AS SELECT generate_series(1, 1000) AS i')
  await send(lost, 'cache', 'SET', 'greeting', 'hello')
  await until('the store is backed up', async () => (await lost.cpctl(['kv', 'backups', 'create', 'cache'])).exitCode === 0)
  await sql(lost, 'shop', 'INSERT INTO rows VALUES (1001)')
  const writtenAt = Date.now()

  const running = await cpd(lost, ['backup-key'])
  expect({ exitCode: running.exitCode, stdout: running.stdout }).toEqual({ exitCode: expect.any(Number), stdout: '' })
  expect(running.exitCode).not.toBe(0)
  await lost.terminate()
  const printed = await cpd(lost, ['backup-key'])
  expect(printed).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^# public key: age1\w+\nAGE-SECRET-KEY-1\w+\n$/) })
  const key = join(lost.paths.data, '..', 'key.txt')
  writeFileSync(key, printed.stdout, { mode: 0o600 })
  expect(await cpd(lost, ['backups', 'list', '--key', key])).toMatchObject({
    exitCode: expect.any(Number),
    stdout: '',
    stderr: expect.stringContaining('No cpd serve answers on this data directory'),
  })
  await lost.start()

  await until(
    'all of both is at the bucket',
    async () => {
      const sets = await cpdJson<DescribedSet[]>(lost, ['backups', 'list', '--key', key])
      const [ofDatabase, ofStore] = [database, store].map(({ id }) => sets.find((set) => set.id === id))
      return Date.parse(ofDatabase?.until ?? '') > writtenAt && ofStore?.state === 'of this server'
    },
    LONG_MS,
  )
  expect(readdirSync(join(s3.folder, 'cpd')).toSorted()).toEqual([database.id, store.id, 'sets'].toSorted())
  const copied = await runProcess(['cp', '--archive', s3.folder, join(s3.folder, '..', LOST_BUCKET)], { env: { PATH: '/usr/bin:/bin' } })
  expect(copied.exitCode).toBe(0)
  await lost.stop()

  const found = [
    { id: database.id, name: 'shop' },
    { id: store.id, name: 'cache' },
  ].toSorted(byId)
  const server = await startCompiled({ env: envOf(LOST_BUCKET) })
  other = server
  const asked = (words: string[], input = printed.stdout) => cpd(server, ['backups', ...words, '--key', '-'], input)
  expect((await asked(['list'], 'no key')).stderr).toContain('This is no key')
  expect((await asked(['list'])).stdout.split('\n').filter((line) => line.includes('at the bucket'))).toHaveLength(2)
  expect((await asked(['adopt', 'red-other'])).stderr).toContain('The bucket has no red-other that this key opens')
  expect((await server.cpctl(['kv', 'recover', store.id])).exitCode).not.toBe(0)
  for (const _ of ['first', 'again'])
    expect(stateOf(JSON.parse((await asked(['adopt', '--json'])).stdout) as DescribedSet[])).toEqual(
      found.map((one) => ({ ...one, state: 'adopted' })),
    )
  expect((await asked(['adopt'])).stdout).toContain(`cpctl postgres recover ${database.id}, cpctl kv recover ${store.id}`)

  const recovered = await made<Postgres>(server, 'postgres', 'recover', database.id, '--name', 'shop')
  expect(recovered).toMatchObject({ name: 'shop', status: 'available', databaseName: database.databaseName })
  expect(await sql(server, 'shop', 'SELECT count(*), max(i) FROM rows')).toMatch(/1001\D+1001/)
  const again = await made<KeyValue>(server, 'kv', 'recover', store.id, '--name', 'cache')
  expect(again).toMatchObject({ name: 'cache', status: 'available' })
  await cpctl(server, 'kv', 'update', 'cache', '--allow-ip', 'everywhere')
  expect(await send(server, 'cache', 'GET', 'greeting')).toContain('hello')
}, 400_000)
