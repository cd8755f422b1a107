import { join } from 'node:path'
import { SQL } from 'bun'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describedSets } from '../../server/apps/backups/offsite/adopt.ts'
import { currentKey } from '../../server/apps/backups/repository/key.ts'
import { backupSetOf } from '../../server/apps/backups/rows/set-store.ts'
import { repositoryOf } from '../../server/apps/backups/work/work.ts'
import { adoptDescribed, listDescribed } from '../../server/boot/serve/adoption.ts'
import { runProcess } from '../../server/platform/process/spawn.ts'
import { workloadsOf } from '../../server/runtime/workloads/store.ts'
import type { Backup } from '../../shared/backup.ts'
import type { Postgres } from '../../shared/postgres.ts'
import { call } from '../support/client.ts'
import { type Platform, startPlatform } from '../support/platform.ts'
import { type S3Server, startS3 } from '../support/s3-server.ts'
import { until } from '../support/until.ts'

let s3: S3Server
let lost: Platform
let other: Platform | undefined
beforeAll(async () => {
  s3 = await startS3()
  lost = await startPlatform(s3.settings)
})
afterAll(async () => {
  await other?.close()
  await s3.close()
})

const LONG_MS = 120_000

const ask = <T>(platform: Platform, path: string, options: { method?: string; json?: unknown } = {}) =>
  call<T>(`${platform.url}/v1/postgres${path}`, { token: platform.adminToken, ...options })

const untilAvailable = (platform: Platform, id: string) =>
  until(
    `${id} is available`,
    async () => {
      const { status } = (await ask<Postgres>(platform, `/${id}`)).body
      if (status === 'recovery_failed') throw new Error(JSON.stringify((await ask(platform, `/${id}/events`)).body))
      return status === 'available'
    },
    LONG_MS,
  )

async function withSql<T>(platform: Platform, id: string, work: (sql: SQL) => Promise<T>): Promise<T> {
  const { body } = await ask<{ internalConnectionString: string }>(platform, `/${id}/connection-info`)
  const url = new URL(body.internalConnectionString)
  const server = workloadsOf(platform.db, 'datastore', id).find(({ phase }) => phase === 'running')
  const sql = new SQL({
    ...{ adapter: 'postgres', hostname: server?.address ?? '', port: server?.port ?? 0, tls: false, max: 1 },
    ...{ username: url.username, password: url.password, database: url.pathname.slice(1) },
  })
  try {
    return await work(sql)
  } finally {
    await sql.close()
  }
}

const verifiedBackup = async (id: string) => {
  const [newest] = (await ask<{ backup: Backup }[]>(lost, `/${id}/backups`)).body
  return newest?.backup.verifiedAt
}

/** Up to when the bucket has the log of a database. */
async function logUntilOf(id: string, identity: string): Promise<number> {
  const found = await Array.fromAsync(describedSets(repositoryOf(lost.context), identity))
  const described = found.find(({ description }) => description?.set.datastoreId === id)
  return described?.description?.logUntil ?? 0
}

/** A machine that is lost takes nothing back that it has put to the bucket. */
async function bucketOfNow(name: string): Promise<void> {
  const { exitCode, stderr } = await runProcess(['cp', '--archive', s3.folder, join(s3.folder, '..', name)], {
    env: { PATH: '/usr/bin:/bin' },
  })
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
}

it('a database is recovered on another machine out of the bucket and the key alone, with what was written a minute ago', async () => {
  const { body: made } = await ask<Postgres>(lost, '', { json: { name: 'shop' } })
  await untilAvailable(lost, made.id)
  await until('a backup is verified', () => verifiedBackup(made.id), LONG_MS)
  await withSql(lost, made.id, (sql) => sql`CREATE TABLE rows AS SELECT generate_series(1, 1000) AS i`)
  const writtenAt = Date.now()
  const { identity } = await currentKey(lost.context)
  await until('all of it is at the bucket', async () => (await logUntilOf(made.id, identity)) > writtenAt, LONG_MS)
  await bucketOfNow('after-the-loss')
  await lost.close()

  other = await startPlatform({ ...s3.settings, CP_BACKUP_S3_BUCKET: 'after-the-loss' })
  const key = `# public key: age1…\n${identity}\n`
  expect(await listDescribed(other.context, key)).toMatchObject([{ id: made.id, name: 'shop', state: 'at the bucket' }])
  await expect(adoptDescribed(other.context, { key: 'no key', ids: [] })).rejects.toThrow('This is no key')
  await expect(adoptDescribed(other.context, { key, ids: ['dpg-other'] })).rejects.toThrow('has no dpg-other')
  expect((await ask(other, `/${made.id}/recovery`, { json: {} })).status).toBe(404)
  expect(await adoptDescribed(other.context, { key, ids: [] })).toMatchObject([{ id: made.id, state: 'adopted' }])

  const recovered = await ask<Postgres>(other, `/${made.id}/recovery`, { json: { name: 'shop' } })
  expect(recovered.status).toBe(201)
  await untilAvailable(other, recovered.body.id)
  const count = await withSql(other, recovered.body.id, async (sql) => (await sql`SELECT count(*)::int AS n FROM rows`)[0])
  expect(count).toEqual({ n: 1000 })

  expect(await adoptDescribed(other.context, { key, ids: [made.id] })).toHaveLength(1)
  expect(backupSetOf(other.db, made.id)?.adoptedUntil).toBeGreaterThan(writtenAt)
  expect((await currentKey(other.context)).identity).toBe(identity)
  const { db } = other
  const ownSet = await until('it is backed up itself', () => backupSetOf(db, recovered.body.id), LONG_MS)
  expect(ownSet.adoptedUntil).toBeNull()
}, 400_000)
