import { existsSync, readFileSync, renameSync, truncateSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { archiveOf, manifestOf } from '../../server/apps/backups/postgres/take.ts'
import { verifyBackup } from '../../server/apps/backups/postgres/verify.ts'
import { pathOfObject, type RepositoryDeps } from '../../server/apps/backups/repository/repository.ts'
import { backupById, backupsOf, type StoredBackup } from '../../server/apps/backups/rows/backup-store.ts'
import { type BackupObject, findObject, objectsOf, walIn } from '../../server/apps/backups/rows/object-store.ts'
import { backupSetOf } from '../../server/apps/backups/rows/set-store.ts'
import { logFileOf, segmentNumberAt, segmentNumberOf } from '../../server/apps/backups/rules/wal-names.ts'
import { drill } from '../../server/apps/backups/work/drill.ts'
import { toolsOf, toolUid } from '../../server/apps/backups/work/source.ts'
import { repositoryOf } from '../../server/apps/backups/work/work.ts'
import { realClock } from '../../server/platform/work/clock.ts'
import type { Postgres } from '../../shared/postgres.ts'
import { call } from '../support/client.ts'
import { type Platform, startPlatform } from '../support/platform.ts'
import { until } from '../support/until.ts'

const HOUR_MS = 3_600_000
const LONG_MS = 180_000
let passed = 0
let platform: Platform
let deps: RepositoryDeps
beforeAll(async () => {
  platform = await startPlatform({}, { clock: { now: () => Date.now() + passed, after: realClock.after } })
  deps = repositoryOf(platform.context)
})
afterAll(() => platform.close())

const ask = <T>(path: string, options: { method?: string; json?: unknown } = {}) =>
  call<T>(`${platform.url}/v1/postgres${path}`, { token: platform.adminToken, ...options })

const soundBackup = (id: string) =>
  until(
    'a sound backup is verified',
    () => {
      const [newest] = backupsOf(platform.db, id)
      return newest?.status === 'available' && newest.verifiedAt !== null ? newest : undefined
    },
    LONG_MS,
  )

const object = (id: string, name: string): BackupObject => findObject(platform.db, id, name) ?? expect.fail(`There is no ${name}`)
const fileOf = (id: string, name: string): string => pathOfObject(deps, object(id, name))

function flipByte(path: string): void {
  const bytes = readFileSync(path)
  bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1
  writeFileSync(path, bytes)
}

function neededSegment({ datastoreId, startLsn }: StoredBackup): string {
  const found = objectsOf(platform.db, datastoreId, walIn(0)).find(
    ({ name }) => segmentNumberOf(logFileOf(name)) === segmentNumberAt(startLsn ?? ''),
  )
  return fileOf(datastoreId, found?.name ?? expect.fail('It has no log'))
}

async function verify(backup: StoredBackup): Promise<void> {
  const programs = (await toolsOf(platform.context, '18')) ?? expect.fail('There are no tools')
  await verifyBackup(deps, backup, { programs, uid: toolUid(platform.context), signal: platform.context.stopping })
}

/** Whatever stands under the name of the manifest is one, of another backup. */
function swapManifest({ id, datastoreId }: StoredBackup): void {
  const others = backupsOf(platform.db, datastoreId).filter((other) => other.id !== id)
  const other = others
    .map((one) => findObject(platform.db, datastoreId, manifestOf(one.id)))
    .find((one) => one !== undefined && existsSync(pathOfObject(deps, one)))
  const own = object(datastoreId, manifestOf(id))
  if (other === undefined) expect.fail('There is no other manifest')
  platform.db.query('UPDATE backup_objects SET digest = ? WHERE datastore_id = ? AND name = ?').run(other.digest, datastoreId, own.name)
  writeFileSync(pathOfObject(deps, { ...own, digest: other.digest }), readFileSync(pathOfObject(deps, other)))
}

const damages: [string, (backup: StoredBackup) => void][] = [
  ['a byte is flipped', ({ id, datastoreId }) => flipByte(fileOf(datastoreId, archiveOf(id)))],
  ['its end is missing', ({ id, datastoreId }) => truncateSync(fileOf(datastoreId, archiveOf(id)), 100_000)],
  [
    'its archive is gone',
    ({ id, datastoreId }) => renameSync(fileOf(datastoreId, archiveOf(id)), `${fileOf(datastoreId, archiveOf(id))}.gone`),
  ],
  ['a segment of its log is gone', (backup) => renameSync(neededSegment(backup), `${neededSegment(backup)}.gone`)],
  ['its manifest is of another backup', swapManifest],
]

it('backups are tried out by themselves, and the drill finds one that is damaged in each of five ways, after which another is taken', async () => {
  const { body: made } = await ask<Postgres>('', { json: { name: 'drilled' } })
  await soundBackup(made.id)
  passed = 25 * HOUR_MS
  platform.context.work.poke('datastore', made.id)
  const drilled = await until('one is restored', () => backupsOf(platform.db, made.id).find(({ drilledAt }) => drilledAt !== null), LONG_MS)
  expect(drilled).toMatchObject({ kind: 'incremental', status: 'available', drillMs: expect.any(Number) })
  for (const [name, damage] of damages) {
    const backup = await soundBackup(made.id)
    damage(backup)
    const set = backupSetOf(platform.db, made.id) ?? expect.fail('There is no set')
    await drill({ context: platform.context, deps, set, verify })
    expect(backupById(platform.db, backup.id), name).toMatchObject({ status: 'damaged' })
    platform.context.work.poke('datastore', made.id)
  }
  expect(await soundBackup(made.id)).toMatchObject({ kind: 'full' })
  const events = platform.db.query<{ type: string }, [string]>('SELECT type FROM events WHERE service_id = ?').all(made.id)
  expect(events.filter(({ type }) => type === 'postgres_backup_damaged')).toHaveLength(damages.length)
}, 900_000)
