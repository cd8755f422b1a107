import { mkdtempSync, rmSync } from 'node:fs'
import { chmod } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { archiveWal } from '../../../../server/apps/backups/postgres/archive-wal.ts'
import { SLOT, startReceiver } from '../../../../server/apps/backups/postgres/receiver.ts'
import { takeBackup } from '../../../../server/apps/backups/postgres/take.ts'
import type { BackupSource } from '../../../../server/apps/backups/postgres/tools.ts'
import { currentKey } from '../../../../server/apps/backups/repository/key.ts'
import type { RepositoryDeps } from '../../../../server/apps/backups/repository/repository.ts'
import { objectsOf } from '../../../../server/apps/backups/rows/object-store.ts'
import { ensureBackupSet } from '../../../../server/apps/backups/rows/set-store.ts'
import { migrateDatabase } from '../../../../server/platform/db/migrate.ts'
import { openDatabase } from '../../../../server/platform/db/open.ts'
import { pathsOf } from '../../../../server/platform/paths.ts'
import { createSealer } from '../../../../server/platform/secrets/seal.ts'
import { NOBODY, type PostgresServer, startPostgres } from '../../../support/source-postgres.ts'
import { until } from '../../../support/until.ts'

const dir = mkdtempSync(join(tmpdir(), 'take-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const datastoreId = 'dpg-00000000000000000001-a'
const recipe = { plan: 'free', sizeGb: 1, databaseName: 'app', databaseUser: 'app_user', parameterOverrides: {} }
const never = new AbortController().signal
let server: PostgresServer
let deps: RepositoryDeps
let source: BackupSource

beforeAll(async () => {
  await chmod(dir, 0o755)
  server = await startPostgres()
  source = { programs: server.programs, host: '127.0.0.1', port: server.port, user: 'cpd_admin', password: server.password, uid: NOBODY }
  const db = openDatabase(join(dir, 'db'))
  migrateDatabase(db)
  deps = { db, sealer: createSealer(Buffer.alloc(32, 7)), paths: pathsOf(dir), now: Date.now, bucket: undefined }
  const { recipient } = await currentKey(deps)
  ensureBackupSet(db, {
    datastoreId,
    kind: 'postgres',
    workspaceId: 'tea-1',
    environmentId: null,
    name: 'shop',
    version: '18',
    recipient,
    recipe,
    createdAt: 1,
  })
})
afterAll(async () => await server.close())

describe('a backup of a running server', () => {
  it('has its archive, its manifest, and the log that it needs', async () => {
    await server.sql`SELECT pg_create_physical_replication_slot(${SLOT}, true)`
    const receiver = await startReceiver(deps, { ...source, areCommitsWaiting: false }, datastoreId)
    await server.sql`CREATE TABLE rows AS SELECT i FROM generate_series(1, 10000) i`
    const taken = await takeBackup(deps, source, { datastoreId, backupId: 'bak-1' }, never)
    expect(taken).toMatchObject({ timeline: 1, startLsn: expect.stringMatching(/^\w+\/\w+$/) })
    await server.sql`SELECT pg_switch_wal()`
    await until('the log is there', async () => {
      await archiveWal(deps, datastoreId, never)
      return objectsOf(deps.db, datastoreId, 'wal/').length >= 2
    })
    await receiver.stop()
    expect(objectsOf(deps.db, datastoreId, 'bak-1/').map(({ name }) => name)).toEqual(['bak-1/backup_manifest', 'bak-1/base.tar'])
  })

  it('is none where the server refuses', async () => {
    const refused = takeBackup(deps, { ...source, password: 'wrong' }, { datastoreId, backupId: 'bak-2' }, never)
    await expect(refused).rejects.toThrow('password authentication failed')
    expect(objectsOf(deps.db, datastoreId, 'bak-2/')).toEqual([])
  })
})
