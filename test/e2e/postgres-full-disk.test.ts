import { spawnSync } from 'node:child_process'
import { existsSync, rmSync, statfsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { datastoreById } from '../../server/apps/datastores/store.ts'
import { connectPostgres, type PostgresConnection } from '../../server/platform/postgres/connect.ts'
import { workloadsOf } from '../../server/runtime/workloads/store.ts'
import type { Event } from '../../shared/event.ts'
import type { TimeSeries } from '../../shared/metrics.ts'
import type { Postgres, PostgresConnectionInfo } from '../../shared/postgres.ts'
import { call } from '../support/client.ts'
import { type Platform, startPlatform } from '../support/platform.ts'
import { until } from '../support/until.ts'

const hasLoopDevices = process.getuid?.() === 0 && existsSync('/dev/loop-control')
const MIB = 1024 * 1024
const SLOW_MS = 120_000

describe.runIf(hasLoopDevices)('a database on a disk that fills', { timeout: 2 * SLOW_MS }, () => {
  let platform: Platform
  let id: string
  beforeAll(async () => {
    platform = await startPlatform()
    id = (await call<Postgres>(`${platform.url}/v1/postgres`, { ...asAdmin(), json: { name: 'shop' } })).body.id
    await isAvailable()
  }, SLOW_MS)
  afterAll(() => platform.close())

  const asAdmin = () => ({ token: platform.adminToken })
  const path = () => `${platform.url}/v1/postgres/${id}`
  const get = async () => (await call<Postgres>(path(), asAdmin())).body
  const running = () => workloadsOf(platform.db, 'datastore', id).find(({ phase }) => phase === 'running')
  const isAvailable = (more: (database: Postgres) => boolean = () => true) =>
    until(
      'the database is available',
      async () => {
        const database = await get()
        return database.status === 'available' && more(database) && database
      },
      SLOW_MS,
    )

  async function connect(): Promise<PostgresConnection> {
    const { body } = await call<PostgresConnectionInfo>(`${path()}/connection-info`, asAdmin())
    const { username, pathname } = new URL(body.internalConnectionString)
    const { address, port } = running() ?? {}
    const own = { user: username, password: body.password, database: pathname.slice(1) }
    return await connectPostgres({ host: address ?? '', port: port ?? 0, ...own })
  }

  async function run(statement: string): Promise<unknown[]> {
    const sql = await connect()
    try {
      return await sql.run(statement)
    } finally {
      await sql.close()
    }
  }

  const events = async (...types: string[]) => {
    const query = types.map((type) => `type=${type}`).join('&')
    const { body } = await call<{ event: Event }[]>(`${path()}/events?direction=forward&${query}`, asAdmin())
    return body.map(({ event }) => event)
  }
  const tellsOf = async (...types: string[]) => (await events(...types)).map(({ type }) => type)

  async function leader(): Promise<number> {
    const record = await Bun.file(join(platform.dataDir, 'run/instances/instances', running()?.id ?? '', 'process')).text()
    return Number(record.split(' ')[0])
  }

  const space = (pid: number) => {
    const { bsize, blocks, bavail } = statfsSync(`/proc/${pid}/root/var/lib/datastore`)
    return { free: bsize * bavail, size: bsize * blocks }
  }

  /** Rows of 8 kB, which nothing makes smaller. */
  const fill = (bytes: number) =>
    run(`INSERT INTO filler SELECT repeat('x', 7900) FROM generate_series(1, ${Math.max(1, Math.floor(bytes / 8192))})`)

  /** Until so much of the disk is left. */
  async function fillUntil(left: (size: number) => number): Promise<void> {
    const { free, size } = space(await leader())
    const wanted = free - left(size)
    for (let done = 0; done < wanted; done += 40 * MIB) await fill(Math.min(40 * MIB, wanted - done))
  }

  test('is told of at 80 %, takes no writes at 95 %, and takes them again on a larger disk', async () => {
    await run('CREATE UNLOGGED TABLE filler (body text); ALTER TABLE filler ALTER body SET STORAGE PLAIN; CREATE TABLE kept (a int)')
    const [before, pid] = [running(), await leader()]
    await fillUntil((size) => size * 0.18)
    await until('it is told', async () => (await get()).diskState === 'nearly_full')
    const idle = await connect()
    const writer = await connect()
    await writer.run('BEGIN; INSERT INTO kept VALUES (1)')
    await fillUntil((size) => size * 0.045)
    await until('it is full', async () => (await get()).diskState === 'full')
    await until('it takes no writes', () =>
      run('INSERT INTO kept SELECT 2 WHERE false').then(
        () => false,
        (error) => String(error).includes('read-only'),
      ),
    )
    await expect(idle.run('INSERT INTO kept VALUES (3)')).rejects.toThrow('read-only transaction')
    const inTransaction = "SELECT pid FROM pg_stat_activity WHERE state = 'idle in transaction'"
    await until('who writes is cut off', async () => (await run(inTransaction)).length === 0)
    // Its session was cut off, whatever this says in another.
    await writer.run('COMMIT').catch(() => {})
    await writer.close()
    expect(await run('SELECT a FROM kept')).toEqual([])
    expect(await idle.run('SELECT count(*)::int AS count FROM filler WHERE false')).toHaveLength(1)
    await idle.close()

    await call(path(), { ...asAdmin(), method: 'PATCH', json: { diskSizeGB: 2 } })
    const grown = await isAvailable(({ diskSizeGB, diskState }) => diskSizeGB === 2 && diskState === 'ok')
    expect(grown.diskState).toBe('ok')
    await until('it takes writes', () =>
      run('INSERT INTO kept VALUES (4)').then(
        () => true,
        () => false,
      ),
    )
    if (platform.context.engine.volumes.capabilities.grow === 'online') expect([await leader(), running()?.id]).toEqual([pid, before?.id])
    expect(space(await leader()).size).toBeGreaterThan(1900 * MIB)
    expect(await run('SHOW max_wal_size')).toEqual([{ max_wal_size: '256MB' }])
    expect(
      await tellsOf('postgres_disk_nearly_full', 'postgres_disk_full', 'postgres_disk_size_changed', 'postgres_disk_writable'),
    ).toEqual(['postgres_disk_nearly_full', 'postgres_disk_full', 'postgres_disk_size_changed', 'postgres_disk_writable'])
  })

  test('comes up again each time that it was filled to the last byte and killed, also without its reserve', async () => {
    for (const round of [1, 2, 3]) {
      const pid = await leader()
      const before = running()
      await until('it takes writes', () =>
        run(`INSERT INTO kept SELECT ${round} FROM generate_series(1, 1000)`).then(
          () => true,
          () => false,
        ),
      )
      // From outside, as a transaction that was begun in time may: the owner of the files writes until nothing is left.
      const root = `/proc/${pid}/root/var/lib/datastore`
      if (round === 3) rmSync(`${root}/ballast`, { force: true })
      spawnSync('sh', ['-c', `cat /dev/zero >>${root}/filler`])
      expect(space(pid).free).toBeLessThan(MIB)
      spawnSync('kill', ['-KILL', ...membersOf(pid).map(String)])
      await until('it was started again', () => (running()?.restarts ?? 0) > (before?.restarts ?? 0), SLOW_MS)
      await isAvailable()
      expect(await run(`SELECT a, count(*)::int AS rows FROM kept WHERE a IN (4, ${round}) GROUP BY a ORDER BY a`)).toEqual([
        { a: round, rows: 1000 },
        { a: 4, rows: 1 },
      ])
      expect(datastoreById(platform.db, id)?.problem).toBeNull()
      await call(path(), { ...asAdmin(), method: 'PATCH', json: { diskSizeGB: (await get()).diskSizeGB + 1 } })
      await isAvailable(({ diskState }) => diskState !== 'full')
    }
  })

  test('grows by itself at 90 %, if that is wished', async () => {
    const json = { name: 'growing', enableDiskAutoscaling: true }
    id = (await call<Postgres>(`${platform.url}/v1/postgres`, { ...asAdmin(), json })).body.id
    await isAvailable()
    await run('CREATE UNLOGGED TABLE filler (body text); ALTER TABLE filler ALTER body SET STORAGE PLAIN')
    const reserve = `/proc/${await leader()}/root/var/lib/datastore/ballast`
    await until('the reserve is taken', () => existsSync(reserve))
    // The log takes its room meanwhile.
    await fillUntil((size) => size * 0.16)
    // Where disks grow while nothing uses them, the server stops for it and cuts us off.
    await fillUntil((size) => size * 0.08).catch(() => {})
    await isAvailable(({ diskSizeGB, diskState }) => diskSizeGB === 5 && diskState === 'ok')
    await fill(40 * MIB)
    expect(await tellsOf('postgres_disk_nearly_full', 'postgres_disk_full', 'postgres_disk_size_changed')).toEqual([
      'postgres_disk_nearly_full',
      'postgres_disk_size_changed',
    ])
  })

  test('says how much of its disk is taken over time', async () => {
    const [usage, capacity] = await until('it was measured', async () => {
      const both = await Promise.all(
        ['usage', 'capacity'].map((what) => call<TimeSeries[]>(`${platform.url}/v1/metrics/disk-${what}?resource=${id}`, asAdmin())),
      )
      const series = both.map(({ body }) => body[0]?.values.at(-1)?.value)
      return series.every((value) => value !== undefined) && series
    })
    expect(capacity).toBeGreaterThan(usage ?? 0)
  })
})

/** The server and all that it began, apart from the shell that waits for it. */
function membersOf(leader: number): number[] {
  const { stdout } = spawnSync('pgrep', ['-P', String(leader)], { encoding: 'utf8' })
  const children = stdout.split('\n').filter(Boolean).map(Number)
  return [...children.flatMap(membersOf), ...children]
}
