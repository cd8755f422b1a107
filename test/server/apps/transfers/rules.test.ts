import { describe, expect, it } from 'vitest'
import { rangeOf } from '../../../../server/apps/transfers/api/download.ts'
import { parseSource } from '../../../../server/apps/transfers/source/url.ts'
import { formatOf, packingOf } from '../../../../server/apps/transfers/tools/format.ts'
import { progressOf, reasonOf, skippedIn } from '../../../../server/apps/transfers/tools/outcome.ts'
import { makeRoleSql } from '../../../../server/apps/transfers/tools/roles.ts'
import { due } from '../../../../server/apps/transfers/work/keep.ts'

const closed = { namedHosts: new Set<string>(), allowedRanges: [] }
const parse = (url: string) => parseSource(url, closed)

describe('the connection string of another database', () => {
  it('is read as clients read it', () => {
    expect(parse('postgres://sam:p%40ss%3Aword@DB.example.com/shop%20one?sslmode=verify-full&application_name=x')).toEqual({
      ...{ host: 'db.example.com', port: 5432, user: 'sam', password: 'p@ss:word', database: 'shop one', sslMode: 'verify-full' },
    })
    expect(parse('postgresql://sam@db.example.com:6543')).toMatchObject({ port: 6543, password: '', database: 'sam', sslMode: 'require' })
  })

  it('has the certificate looked at where it asks for a bound channel', () => {
    expect(parse('postgresql://a:b@db.example.com/c?sslmode=require&channel_binding=require').sslMode).toBe('verify-full')
    expect(parse('postgresql://a:b@db.example.com/c?sslmode=disable').sslMode).toBe('disable')
  })

  it.each([
    ['mysql://a:b@db.example.com/c', /no connection string/],
    ['host=db.example.com user=a', /no connection string/],
    ['postgresql://a:b@/c?host=/var/run/postgresql', /no connection string|names no host/],
    ['postgresql://a:b@%2Fvar%2Frun/c', /no connection string|names no host/],
    ['postgresql://a:b@127.0.0.1/c', /private network/],
    ['postgresql://a:b@localhost/c', /private network/],
    ['postgresql://a:b@[::ffff:10.0.0.1]/c', /private network/],
    ['postgresql://a:b@169.254.169.254/c', /private network/],
    ['postgresql://:b@db.example.com/c', /names no user/],
    ['postgresql://a:b@db.example.com/c?options=-c%20x%3D1', /parameter options/],
    ['postgresql://a:b@db.example.com/c?sslmode=verify', /sslmode/],
    ['postgresql://a:secret%0aword@db.example.com/c', /not encoded/],
    ['postgresql://a:secret%zz@db.example.com/c', /not encoded/],
  ])('%s is refused', (url, why) => {
    expect(() => parse(url)).toThrow(why)
    expect(() => parse(url)).not.toThrow(/secret/)
  })
})

describe('a file that is sent', () => {
  it('is known by its beginning', () => {
    const tar = Buffer.alloc(512)
    tar.write('ustar', 257)
    expect([formatOf(Buffer.from('PGDMP\u0001')), formatOf(tar), formatOf(Buffer.from('-- SQL\nSELECT 1;'))]).toEqual([
      'custom',
      'tar',
      'sql',
    ])
    expect([formatOf(Buffer.from([])), formatOf(Buffer.from([0x89, 0x50, 0x4e, 0x47, 0]))]).toEqual([undefined, undefined])
    expect([packingOf(Buffer.from([0x1f, 0x8b, 8])), packingOf(Buffer.from([0x28, 0xb5, 0x2f, 0xfd])), packingOf(tar)]).toEqual([
      ...['gzip', 'zstd', undefined],
    ])
  })
})

describe('what the tools say', () => {
  it('tells how far they are', () => {
    const words = 'cpd-phase: reading\ncpd-table: 1 "public.a"\ncpd-table: 2 "shop.orders"\n'
    expect(progressOf(words, 12)).toEqual({ phase: 'reading', tables: 2, table: 'shop.orders', bytes: 12 })
    expect(progressOf('', 0)).toEqual({ phase: 'starting', tables: 0, bytes: 0 })
    expect(skippedIn('cpd-skipped: the extension postgis\n')).toEqual(['the extension postgis'])
  })

  it.each([
    ['pg_restore: error: unsupported version (1.99) in file header', /newer pg_dump/],
    ['pg_dump: error: aborting because of server version mismatch', /newer than this database/],
    ['psql:<stdin>:9: error: backslash commands are restricted; only \\unrestrict is allowed', /commands of psql/],
    ['pg_restore: error: could not execute query: ERROR:  relation "a" already exists', /--clean/],
    ['psql:<stdin>:3: ERROR:  role "heroku" does not exist', /--no-owner/],
    ['pg_restore: error: could not read from input file: end of file', /damaged/],
    ['pg_dump: error: connection failed: FATAL:  password authentication failed for user "a"', /refuses this user/],
    ['cpd-problem: truncated', /ends before its end/],
    ['ERROR:  type "geometry" does not exist', /extension/],
  ])('%s is told with what to do', (words, reason) => {
    expect(reasonOf(words)).toMatch(reason)
  })

  it('keeps a reason short, however much was said', () => {
    expect(reasonOf(`pg_restore: error: ${'x'.repeat(100_000)}`).length).toBeLessThan(800)
  })
})

describe('the part of a download', () => {
  it.each([
    ['bytes=0-9', { from: 0, until: 10 }],
    ['bytes=90-', { from: 90, until: 100 }],
    ['bytes=-10', { from: 90, until: 100 }],
    ['bytes=50-1000', { from: 50, until: 100 }],
    ['bytes=100-', undefined],
    ['bytes=5-4', undefined],
    ['bytes=0-1,4-5', undefined],
    ['bytes=-', undefined],
    ['lines=1-2', undefined],
    [null, undefined],
  ])('%s', (header, range) => {
    expect(rangeOf(header, 100)).toEqual(range)
  })
})

it('a role of tools has no right that its work does not need, whatever a database is called', () => {
  const own = { id: 'dpg-1', databaseName: 'a"; DROP', databaseUser: 'b"c' }
  const [reads, writes] = [makeRoleSql({ kind: 'export', own }, 'pw'), makeRoleSql({ kind: 'import', own }, 'pw')]
  for (const sql of [reads, writes]) {
    expect(sql).toContain('NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION')
    expect(sql).toContain('GRANT CONNECT ON DATABASE "a""; DROP" TO')
    expect(sql).not.toContain("'pw'")
  }
  expect(writes).toContain('NOBYPASSRLS')
  expect(writes).toContain('GRANT "b""c" TO "cpd_import"')
})

it('transfers that are under way are not forgotten, and others a week after their end', () => {
  const transfer = { createdAt: 0, completedAt: 1000 } as Parameters<typeof due>[0]
  expect(due({ ...transfer, status: 'running' })).toBe(Number.POSITIVE_INFINITY)
  expect(due({ ...transfer, status: 'succeeded' })).toBe(1000 + 7 * 86_400_000)
})
