import { SQL } from 'bun'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { datastoreById } from '../../server/apps/datastores/store.ts'
import { asAdmin } from '../../server/apps/postgres/session.ts'
import { workloadsOf } from '../../server/runtime/workloads/store.ts'
import type { Backup, Recovery } from '../../shared/backup.ts'
import type { Event } from '../../shared/event.ts'
import type { Postgres, PostgresConnectionInfo } from '../../shared/postgres.ts'
import { call } from '../support/client.ts'
import { type Platform, startPlatform } from '../support/platform.ts'
import { until } from '../support/until.ts'

/** Debian's, as the operator's own beside the one inside. */
const FORMER = '/usr/lib/postgresql/15'
const LONG_MS = 120_000

describe('a database of another major version', () => {
  let platform: Platform
  let made: Postgres
  beforeAll(async () => {
    platform = await startPlatform({ CP_POSTGRES_DIR: FORMER })
    const { body } = await ask<Postgres>('', { json: { name: 'shop', version: '15', readReplicas: [{ name: 'reads' }] } })
    made = body
    await untilAvailable(made.id)
    await untilBackedUp(made.id, '15')
  }, LONG_MS)
  afterAll(() => platform.close(), LONG_MS)

  const ask = <T>(path: string, options: { method?: string; json?: unknown } = {}) =>
    call<T>(`${platform.url}/v1/postgres${path}`, { token: platform.adminToken, ...options })
  const get = async (id: string) => (await ask<Postgres>(`/${id}`)).body
  const patch = (json: unknown) => ask<Postgres & { message: string }>(`/${made.id}`, { method: 'PATCH', json })

  const untilAvailable = (id: string, version?: string): Promise<Postgres> =>
    until(
      `${id} is available`,
      async () => {
        const database = await get(id)
        if (database.status === 'recovery_failed') throw new Error(JSON.stringify(await events(id)))
        return database.status === 'available' && (version ?? database.version) === database.version && database
      },
      LONG_MS,
    )

  const untilBackedUp = (id: string, version: string): Promise<Backup> =>
    until(
      `a backup of version ${version} is complete`,
      async () => {
        const { body } = await ask<{ backup: Backup }[]>(`/${id}/backups`)
        return body.map(({ backup }) => backup).find((backup) => backup.version === version && backup.status === 'available')
      },
      LONG_MS,
    )

  const backupOf = async (id: string, backupId: string): Promise<Backup | undefined> =>
    (await ask<{ backup: Backup }[]>(`/${id}/backups`)).body.find(({ backup }) => backup.id === backupId)?.backup

  const events = async (id: string): Promise<string[]> =>
    (await ask<{ event: Event }[]>(`/${id}/events?limit=100`)).body
      .map(({ event }) => event.type)
      .filter((type) => type.includes('upgrade'))

  const running = (id: string) => workloadsOf(platform.db, 'datastore', id).find(({ phase }) => phase === 'running')
  const endpointOf = (id: string) => ({ host: running(id)?.address ?? '', port: running(id)?.port ?? 0 })
  const connectionInfo = async () => (await ask<PostgresConnectionInfo>(`/${made.id}/connection-info`)).body

  async function open(id: string): Promise<SQL> {
    const { username, password, pathname } = new URL(
      (await ask<PostgresConnectionInfo>(`/${id}/connection-info`)).body.internalConnectionString,
    )
    const { host: hostname, port } = endpointOf(id)
    return new SQL({ adapter: 'postgres', tls: false, max: 1, hostname, port, username, password, database: pathname.slice(1) })
  }

  async function withSql<T>(id: string, work: (sql: SQL) => Promise<T>): Promise<T> {
    const sql = await open(id)
    try {
      return await work(sql)
    } finally {
      await sql.close({ timeout: 0 })
    }
  }

  const rowsOf = (id: string): Promise<number[]> =>
    withSql(id, async (sql) => (await sql`SELECT i FROM rows ORDER BY i`.values()).map(([i]: [number]) => i))
  const versionOf = (id: string): Promise<string> =>
    withSql(id, async (sql) => String((await sql`SHOW server_version`)[0].server_version).split('.')[0] ?? '')

  /** Writes one row after the other and connects again whenever it has to. Returns what was acknowledged. */
  function writer(from: number): { stop(): Promise<number[]>; acknowledged: number[] } {
    const acknowledged: number[] = []
    let isOver = false
    const write = async (): Promise<void> => {
      for (let next = from; !isOver; ) {
        const sql = await open(made.id)
        try {
          for (; !isOver; next += 1) {
            await sql`INSERT INTO rows VALUES (${next})`
            acknowledged.push(next)
          }
        } catch {
          // Whether this one was written nobody knows: another takes its place.
          next += 1
        } finally {
          await sql.close({ timeout: 0 }).catch(() => {})
        }
      }
    }
    const done = write()
    return {
      acknowledged,
      async stop() {
        isOver = true
        await done
        return acknowledged
      },
    }
  }

  it('is brought to a newer one under its clients, who lose nothing, and its replicas with it', async () => {
    await withSql(made.id, (sql) => sql`CREATE TABLE rows (i int PRIMARY KEY)`)
    await withSql(made.id, (sql) => sql`CREATE EXTENSION pg_trgm`)
    expect((await patch({ version: '15' })).body.message).toContain('is of PostgreSQL 15 already. It can be brought to 18.')
    expect((await patch({ version: '14' })).body.message).toContain('has no PostgreSQL 14')
    const { id: replicaId = '' } = made.readReplicas[0] ?? {}
    expect((await ask(`/${replicaId}`, { method: 'PATCH', json: { version: '18' } })).status).toBe(409)
    expect((await ask(`/${made.id}/rollback`, { method: 'POST' })).status).toBe(409)
    const former = await connectionInfo()
    const client = writer(1)
    await until('something is written', () => client.acknowledged.length > 20)

    const underWay = (await ask<Backup>(`/${made.id}/backups`, { method: 'POST' })).body
    await until('a backup is being taken', () => platform.context.work.isBackingUp(made.id))
    const { status, body } = await patch({ version: '18' })
    expect({ status, body }).toMatchObject({ status: 200, body: { status: 'updating_instance', upgrade: { status: 'in_progress' } } })
    expect((await patch({ plan: 'basic_1gb' })).status).toBe(409)
    const upgraded = await untilAvailable(made.id, '18')
    expect(upgraded.upgrade).toMatchObject({ fromVersion: '15', toVersion: '18', status: 'succeeded', rollbackTo: expect.any(String) })
    expect(await backupOf(made.id, underWay.id)).toMatchObject({ status: 'available', version: '15' })
    const known = client.acknowledged.length
    await until('it is written again', () => client.acknowledged.length > known + 20, LONG_MS)
    const acknowledged = await client.stop()
    expect(await rowsOf(made.id)).toEqual(expect.arrayContaining(acknowledged))
    expect(await connectionInfo()).toEqual(former)
    expect(await versionOf(made.id)).toBe('18')
    await untilAvailable(replicaId, '18')
    await until('the replica has it all', async () => (await rowsOf(replicaId)).length >= acknowledged.length, LONG_MS)
    await until('statistics are there', async () => (await get(made.id)).upgrade?.step === 'done', LONG_MS)
    const extensions = await withSql(
      made.id,
      (sql) => sql`SELECT extname FROM pg_extension e JOIN pg_available_extensions a ON a.name = e.extname
      WHERE a.default_version <> e.extversion`,
    )
    expect([...extensions]).toEqual([])
    expect(await events(made.id)).toEqual(['postgres_upgrade_succeeded', 'postgres_upgrade_started'])
  }, 400_000)

  it('is recovered to moments before and after, as what it was then', async () => {
    const before = (await get(made.id)).upgrade?.startedAt ?? ''
    await untilBackedUp(made.id, '18')
    const { body } = await ask<Recovery>(`/${made.id}/recovery`)
    expect(body.windows.map(({ version }) => version)).toEqual(['15', '18'])
    const rows = await rowsOf(made.id)
    const recover = async (json: object) => (await ask<Postgres>(`/${made.id}/recovery`, { json })).body
    const old = await recover({ restoreTime: before, name: 'shop-before' })
    expect(old.version).toBe('15')
    await untilAvailable(old.id)
    expect(await versionOf(old.id)).toBe('15')
    const then = await rowsOf(old.id)
    expect(then.length).toBeGreaterThan(20)
    expect(rows).toEqual(expect.arrayContaining(then))
    const now = await recover({ name: 'shop-after' })
    await untilAvailable(now.id, '18')
    expect(await rowsOf(now.id)).toEqual(rows)
    for (const { id } of [old, now]) expect((await ask(`/${id}`, { method: 'DELETE' })).status).toBe(204)
  }, 400_000)

  it('is taken back, without what was written since, and backed up as what it is again', async () => {
    await withSql(made.id, (sql) => sql`INSERT INTO rows VALUES (-1)`)
    const since = await rowsOf(made.id)
    expect((await ask(`/${made.id}/rollback`, { method: 'POST' })).status).toBe(202)
    const back = await untilAvailable(made.id, '15')
    expect(back.upgrade?.status).toBe('rolled_back')
    const rows = await rowsOf(made.id)
    expect(rows.length).toBeGreaterThan(20)
    expect(rows).not.toContain(-1)
    expect(since).toEqual(expect.arrayContaining(rows))
    const { volumeId = '' } = datastoreById(platform.db, made.id) ?? {}
    await until('nothing of it is kept', async () => (await platform.context.engine.volumes.listSnapshots(volumeId)).length === 0, LONG_MS)
    await until(
      'a backup of it is complete',
      async () => {
        const { body } = await ask<Recovery>(`/${made.id}/recovery`)
        return body.windows.map(({ version }) => version).join() === '15,18,15'
      },
      LONG_MS,
    )
    expect(await events(made.id)).toContain('postgres_upgrade_reverted')
  }, 400_000)

  it('goes on as it was where something of it is not there in the newer one, and that is named', async () => {
    await asAdmin(platform.context, { id: made.id, endpoint: endpointOf(made.id), database: made.databaseName }, (sql) =>
      sql.run('CREATE EXTENSION adminpack SCHEMA pg_catalog'),
    )
    expect((await patch({ version: '18' })).status).toBe(200)
    const failed = await until(
      'it has failed',
      async () => {
        const database = await get(made.id)
        return database.upgrade?.status === 'failed' && database
      },
      LONG_MS,
    )
    expect(failed.upgrade?.reason).toContain('could not load library "$libdir/adminpack"')
    await untilAvailable(made.id, '15')
    expect((await rowsOf(made.id)).length).toBeGreaterThan(20)
    expect((await events(made.id))[0]).toBe('postgres_upgrade_failed')
  }, 400_000)
})
