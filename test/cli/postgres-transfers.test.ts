import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, expect, test } from 'vitest'
import { exampleDatabase as database, pageOf } from './examples.ts'
import { type Answers, type FakeServer, startFakeServer } from './fake-server.ts'
import { cpctl, type TerminalOptions } from './terminal.ts'

const cwd = mkdtempSync(join(tmpdir(), 'transfers-'))
let server: FakeServer
afterEach(async () => {
  expect(server.breaches).toEqual([])
  await server.stop()
})
afterAll(() => rmSync(cwd, { recursive: true, force: true }))

function serving(answers: Answers) {
  server = startFakeServer({ listPostgres: () => pageOf('postgres', [database]), ...answers })
  return (argv: string[], options: TerminalOptions = {}) =>
    cpctl(['postgres', ...argv], { cwd, ...options, env: { CPCTL_URL: server.url, CPCTL_TOKEN: 'cpk_test' } })
}

const createdAt = database.createdAt
const content = Buffer.from('all of the database '.repeat(1000))
const begun = { id: 'exp-00000000000000000001', status: 'running', createdAt } as const
const made = {
  ...begun,
  status: 'succeeded',
  sizeBytes: content.length,
  sha256: createHash('sha256').update(content).digest('hex'),
} as const

test('an export is saved, going on where the line broke', async () => {
  const ranges: (string | null)[] = []
  const run = serving({
    createPostgresExport: () => begun,
    listPostgresExports: () => [made],
    downloadPostgresExport({ request }) {
      ranges.push(request.headers.get('range'))
      const headers = { 'content-type': 'application/gzip' }
      return ranges.length > 1
        ? new Response(content.subarray(100), { status: 206, headers })
        : new Response(content.subarray(0, 100), { headers })
    },
  })
  const { stdout, stderr } = await run(['export', 'shop', '--output', 'shop.tar.gz'])
  expect({ stdout, stderr }).toMatchObject({ stdout: expect.stringContaining('shop is in') })
  expect(readFileSync(join(cwd, 'shop.tar.gz')).equals(content)).toBe(true)
  expect(ranges).toEqual([null, 'bytes=100-'])
  expect((await run(['export', 'shop', '--output', 'shop.tar.gz'])).stderr).toContain('already')
})

const imported = {
  ...{ id: 'imp-00000000000000000001', status: 'running', createdAt, source: 'database', host: 'db.example.com', clean: true },
  skipped: ['the extension postgis'],
} as const

test('another database is imported, by a URL that no list of processes shows', async () => {
  const progress = { phase: 'copying', tables: 2, table: 'orders', bytes: 2048 }
  let asked = 0
  const run = serving({
    startPostgresImport: () => imported,
    getPostgresImport: () => ({ ...imported, ...(asked++ === 0 ? { progress } : { status: 'succeeded' }) }),
  })
  const url = 'postgresql://a:b@db.example.com/c'
  const { stdout, stderr } = await run(['import', 'shop', '--from-url', '-', '--clean'], { stdin: `${url}\n` })
  expect(stdout).toBe('All of db.example.com is in shop.\nLeft out: the extension postgis.\n')
  expect(stderr).toContain('copying, 2.0 KB, table 2: orders')
  expect(server.received.find(({ id }) => id === 'startPostgresImport')?.body).toEqual({ url, clean: true })
})

test('a dump is sent as it is, and what fails is told with its reason', async () => {
  writeFileSync(join(cwd, 'shop.dump'), 'PGDMP')
  let sent = ''
  const run = serving({
    async uploadPostgresDump({ request }) {
      sent = await request.clone().text()
      return { ...imported, source: 'upload' }
    },
    getPostgresImport: () => ({ ...imported, status: 'failed', reason: 'The dump is damaged.' }),
  })
  const { exitCode, stderr } = await run(['import', 'shop', 'shop.dump'])
  expect({ exitCode, sent }).toEqual({ exitCode: 1, sent: 'PGDMP' })
  expect(stderr).toContain('The dump is damaged.')
  expect((await run(['import', 'shop', 'none.dump'])).stderr).toContain('There is no file')
  expect((await run(['import', 'shop'])).exitCode).toBe(2)
})
