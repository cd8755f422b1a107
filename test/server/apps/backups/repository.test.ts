import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { mirror, removeMarked } from '../../../../server/apps/backups/offsite/mirror.ts'
import { hasItsLog } from '../../../../server/apps/backups/postgres/verify.ts'
import { openBucket } from '../../../../server/apps/backups/repository/bucket.ts'
import { currentKey, identityOf } from '../../../../server/apps/backups/repository/key.ts'
import { parseFileName } from '../../../../server/apps/backups/repository/layout.ts'
import { BackupDamaged } from '../../../../server/apps/backups/repository/pack.ts'
import {
  extractObjects,
  keyOfObject,
  openObject,
  pathOfObject,
  type RepositoryDeps,
  removeObject,
  storeObject,
} from '../../../../server/apps/backups/repository/repository.ts'
import { requireRoom } from '../../../../server/apps/backups/repository/room.ts'
import {
  backupsToUpload,
  findObject,
  insertObject,
  isBeingRemoved,
  lastOfLog,
  logToUpload,
  objectsOf,
  segmentsBefore,
  segmentsBetween,
  storedSegments,
  updateObject,
} from '../../../../server/apps/backups/rows/object-store.ts'
import { ensureBackupSet } from '../../../../server/apps/backups/rows/set-store.ts'
import { placeInLog } from '../../../../server/apps/backups/rules/wal-names.ts'
import { migrateDatabase } from '../../../../server/platform/db/migrate.ts'
import { openDatabase } from '../../../../server/platform/db/open.ts'
import { pathsOf } from '../../../../server/platform/paths.ts'
import { createSealer } from '../../../../server/platform/secrets/seal.ts'
import { type S3Server, startS3 } from '../../../support/s3-server.ts'

const dir = mkdtempSync(join(tmpdir(), 'repository-'))
afterAll(() => rmSync(dir, { recursive: true }))

let s3: S3Server
beforeAll(async () => {
  s3 = await startS3()
})
afterAll(async () => await s3.close())

const datastoreId = 'dpg-00000000000000000001-a'
const recipe = { plan: 'free', sizeGb: 1, databaseName: 'app', databaseUser: 'app_user', parameterOverrides: {} }
const never = new AbortController().signal
let deps: RepositoryDeps
let count = 0

beforeEach(async () => {
  const db = openDatabase(join(dir, `${++count}.db`))
  migrateDatabase(db)
  const sealer = createSealer(Buffer.alloc(32, 7))
  deps = { db, sealer, paths: pathsOf(join(dir, String(count))), now: () => 1000 + count, bucket: undefined }
  const { recipient } = await currentKey(deps)
  const known = { kind: 'postgres', workspaceId: 'tea-1', environmentId: null, name: 'shop', version: '18' } as const
  ensureBackupSet(db, { datastoreId, ...known, recipient, recipe, createdAt: 1 })
})

const store = (name: string, content: string) => storeObject(deps, { datastoreId, name }, Readable.from([Buffer.from(content)]))
const stored = (name: string) => findObject(deps.db, datastoreId, name) ?? expect.fail(`There is no ${name}`)
const allWaiting = (limit: number) => [...logToUpload(deps.db, datastoreId, limit), ...backupsToUpload(deps.db, limit)]
const withBucket = (change = {}) => ({ ...deps, bucket: openBucket({ CP_BACKUP_RETENTION_DAYS: 7, ...s3.settings, ...change }) })

describe('the repository', () => {
  it('keeps what it is given under names that tell what it is, and the same content once', async () => {
    await store('wal/000000010000000000000001', 'rows')
    const { digest } = await store('wal/000000010000000000000001', 'rows')
    const names = readdirSync(join(deps.paths.backups, 'datastores', datastoreId, 'wal'))
    expect(names).toEqual([`000000010000000000000001.${digest}.zst.age`])
    expect(parseFileName(`wal/${names[0]}`)).toEqual({ name: 'wal/000000010000000000000001', digest })
    expect(await text(await openObject(deps, stored('wal/000000010000000000000001')))).toBe('rows')
    expect(objectsOf(deps.db, datastoreId)).toHaveLength(1)
  })

  it('leaves nothing of what fails', async () => {
    const failing = Readable.from(
      (async function* () {
        yield randomBytes(100)
        throw new Error('gone')
      })(),
    )
    await expect(storeObject(deps, { datastoreId, name: 'wal/x' }, failing)).rejects.toThrow('gone')
    expect(readdirSync(join(deps.paths.backups, 'datastores', datastoreId, 'work'))).toEqual([])
    expect(objectsOf(deps.db, datastoreId)).toEqual([])
  })

  it('has one key, sealed, and says when a key is not here', async () => {
    const [one, two] = await Promise.all([currentKey(deps), currentKey(deps)])
    expect(one).toEqual(two)
    expect(identityOf(deps, one.recipient)).toMatch(/^AGE-SECRET-KEY-1/)
    expect(() => identityOf(deps, 'age1other')).toThrow('is not here')
  })

  it('takes no names that lead elsewhere', () => {
    expect(parseFileName(`../../etc/passwd.${'0'.repeat(32)}.zst.age`)).toBeUndefined()
    expect(parseFileName('backup_label')).toBeUndefined()
  })
})

describe('a stored log', () => {
  it('is asked for by places in it, whatever the time line', () => {
    const add = (name: string) => insertObject(deps.db, { datastoreId, name, digest: '', plainBytes: 1, packedBytes: 1, createdAt: 5 })
    const log = ['000000010000000000000007', '000000010000000000000008', '000000020000000000000008', '0000000200000001000000FF']
    for (const name of [
      ...log.map((segment) => `wal/${segment}`),
      'wal/00000002.history',
      'wal-begun/000000030000000000000009',
      'wal-1/000000010000000000000005',
      'wal-10/000000010000000000000006',
      'bak-1/base.tar',
    ])
      add(name)
    expect(storedSegments(deps.db, { datastoreId, lineage: 0 })).toEqual(log.map((segment) => ({ segment, createdAt: 5 })))
    expect(segmentsBetween(deps.db, { datastoreId, lineage: 0 }, [placeInLog(8), placeInLog(9)])).toEqual(log.slice(1, 3))
    expect(segmentsBefore(deps.db, { datastoreId, lineage: 0 }, placeInLog(9)).map(({ name }) => name.slice(4))).toEqual(log.slice(0, 3))
    expect(lastOfLog(deps.db, { datastoreId, lineage: 0 })).toBe('0000000200000001000000FF')
    expect(storedSegments(deps.db, { datastoreId, lineage: 1 })).toEqual([{ segment: '000000010000000000000005', createdAt: 5 }])
    expect(hasItsLog(deps, { datastoreId, lineage: 0, startLsn: '0/7000028', endLsn: '0/8000100' })).toBe(true)
    expect(hasItsLog(deps, { datastoreId, lineage: 0, startLsn: '0/7000028', endLsn: '0/9000100' })).toBe(false)
  })
})

describe('the room for backups', () => {
  it('is asked for before anything is written, and what is missing is said', () => {
    mkdirSync(deps.paths.backups, { recursive: true })
    expect(() => requireRoom(deps.paths, 1)).not.toThrow()
    expect(() => requireRoom(deps.paths, 1024 ** 6)).toThrow(/^The disk of the server has no room for this: .* Make \S+ GiB of room/)
  })
})

describe('the bucket', () => {
  it('gets every file once, and gives back what is gone from the disk', async () => {
    await store('wal/1', 'one')
    await store('bak-1/base.tar', randomBytes(12_000_000).toString('base64'))
    const deps = withBucket()
    expect(await mirror(deps, { waiting: allWaiting, signal: never })).toEqual({ uploaded: 2 })
    expect(await mirror(deps, { waiting: allWaiting, signal: never })).toEqual({ uploaded: 0 })
    const object = stored('bak-1/base.tar')
    rmSync(pathOfObject(deps, object))
    expect(await text(await openObject(deps, object))).toHaveLength(16_000_000)
    expect(await Array.fromAsync(deps.bucket?.list(datastoreId) ?? [])).toHaveLength(2)
  })

  it('is waited for while it is away, and then gets what it lacks', async () => {
    await store('wal/1', 'one')
    const deps = withBucket()
    await s3.stop()
    expect(await mirror(deps, { waiting: allWaiting, signal: never })).toMatchObject({
      uploaded: 0,
      problem: expect.stringContaining('did not take a file'),
    })
    expect(allWaiting(10)).toHaveLength(1)
    await s3.start()
    expect(await mirror(deps, { waiting: allWaiting, signal: never })).toEqual({ uploaded: 1 })
  })

  it.each([
    ['is not there', { CP_BACKUP_S3_BUCKET: 'another' }],
    ['refuses the key', { CP_BACKUP_S3_SECRET_KEY: 'wrong' }],
  ])('is told when it %s', async (_, change) => {
    await store('wal/1', 'one')
    expect(await mirror(withBucket(change), { waiting: allWaiting, signal: never })).toMatchObject({
      uploaded: 0,
      problem: expect.stringContaining('did not take a file'),
    })
  })

  it("loses what is ours and nobody else's", async () => {
    await store('wal/1', 'one')
    const deps = withBucket()
    await mirror(deps, { waiting: allWaiting, signal: never })
    const others = join(s3.folder, 'cpd', datastoreId, 'wal', 'theirs')
    writeFileSync(others, 'theirs')
    const object = stored('wal/1')
    await s3.stop()
    await removeObject(deps, object)
    expect(findObject(deps.db, datastoreId, 'wal/1')).toBeUndefined()
    expect(existsSync(pathOfObject(deps, object))).toBe(false)
    await expect(removeMarked(deps, never)).rejects.toThrow('did not remove')
    expect(isBeingRemoved(deps.db, datastoreId)).toBe(true)
    await s3.start()
    await removeMarked(deps, never)
    expect(isBeingRemoved(deps.db, datastoreId)).toBe(false)
    expect(readdirSync(join(s3.folder, 'cpd', datastoreId, 'wal'))).toEqual(['theirs'])
    rmSync(others)
  })

  it('keeps nothing of what was removed while it was copied, nor of what was copied without being known', async () => {
    await store('bak-8/base.tar', 'one')
    const { bucket } = withBucket()
    if (bucket === undefined) return expect.fail('There is no bucket')
    const slow = {
      ...bucket,
      async put(...given: Parameters<typeof bucket.put>) {
        await bucket.put(...given)
        const object = stored('bak-8/base.tar')
        await removeObject({ ...deps, bucket }, object)
        await removeMarked({ ...deps, bucket }, never)
      },
    }
    expect(await mirror({ ...deps, bucket: slow }, { waiting: allWaiting, signal: never })).toEqual({ uploaded: 1 })
    expect(await Array.fromAsync(bucket.list(`${datastoreId}/bak-8/`))).toEqual([])

    // A kill between the upload and its row leaves this.
    await store('bak-9/base.tar', 'two')
    const object = stored('bak-9/base.tar')
    await bucket.put(keyOfObject(object), pathOfObject(deps, object), object.packedBytes)
    await removeObject({ ...deps, bucket }, object)
    await removeMarked({ ...deps, bucket }, never)
    expect(await Array.fromAsync(bucket.list(`${datastoreId}/bak-9/`))).toEqual([])
  })

  it('is not asked for where no setting names it, and says which settings lack', () => {
    expect(
      openBucket({ ...s3.settings, CP_BACKUP_RETENTION_DAYS: 7, CP_BACKUP_S3_ENDPOINT: undefined, CP_BACKUP_S3_BUCKET: undefined }),
    ).toBeUndefined()
    expect(() => withBucket({ CP_BACKUP_S3_SECRET_KEY: undefined })).toThrow('CP_BACKUP_S3_SECRET_KEY')
  })

  it('misses a file that has gone from the disk before it was copied, and goes on', async () => {
    await store('wal/1', 'one')
    await store('wal/2', 'two')
    const path = pathOfObject(deps, stored('wal/1'))
    renameSync(path, `${path}.lost`)
    expect(await mirror(withBucket(), { waiting: allWaiting, signal: never })).toEqual({ uploaded: 1 })
    expect(stored('wal/1')).toMatchObject({ isLocal: false, uploadedAt: null })
  })
})

describe('what is missing', () => {
  it('is damage where it is nowhere, and waited for where its bucket is not set', async () => {
    await store('wal/1', 'one')
    rmSync(pathOfObject(deps, stored('wal/1')))
    await expect(openObject(deps, stored('wal/1'))).rejects.toThrow(BackupDamaged)
    updateObject(deps.db, stored('wal/1'), { uploadedAt: 1 })
    await expect(openObject(deps, stored('wal/1'))).rejects.toThrow('Set CP_BACKUP_S3_ENDPOINT')
    await expect(openObject(withBucket(), stored('wal/1'))).rejects.toThrow(BackupDamaged)
  })

  it('is fetched, and nothing of that is left', async () => {
    await store('wal/1', 'one')
    await store('wal/2', 'two')
    const deps = withBucket()
    await mirror(deps, { waiting: allWaiting, signal: never })
    rmSync(pathOfObject(deps, stored('wal/1')))
    const folder = join(dir, `extracted-${count}`)
    mkdirSync(folder)
    await extractObjects(
      deps,
      ['1', '2'].map((name) => ({ object: stored(`wal/${name}`), path: join(folder, name) })),
    )
    expect(readdirSync(folder).toSorted()).toEqual(['1', '2'])
    expect(readFileSync(join(folder, '1'), 'utf8')).toBe('one')
  })
})
