import { mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { archiveWal } from '../../../../server/apps/backups/postgres/archive-wal.ts'
import { outdatedBegun, storeBegun } from '../../../../server/apps/backups/postgres/begun-log.ts'
import { incomingIn } from '../../../../server/apps/backups/postgres/receiver.ts'
import { currentKey } from '../../../../server/apps/backups/repository/key.ts'
import type { RepositoryDeps } from '../../../../server/apps/backups/repository/repository.ts'
import { begunIn, insertObject, objectsOf, updateObject } from '../../../../server/apps/backups/rows/object-store.ts'
import { ensureBackupSet } from '../../../../server/apps/backups/rows/set-store.ts'
import { migrateDatabase } from '../../../../server/platform/db/migrate.ts'
import { openDatabase } from '../../../../server/platform/db/open.ts'
import { pathsOf } from '../../../../server/platform/paths.ts'
import { createSealer } from '../../../../server/platform/secrets/seal.ts'

const dir = mkdtempSync(join(tmpdir(), 'begun-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const datastoreId = 'dpg-00000000000000000001-a'
const segment = '000000010000000000000007'
const signal = new AbortController().signal
let deps: RepositoryDeps
let count = 0
let now = 1000

beforeEach(async () => {
  const db = openDatabase(join(dir, `${++count}.db`))
  migrateDatabase(db)
  deps = { db, sealer: createSealer(Buffer.alloc(32, 7)), paths: pathsOf(join(dir, String(count))), now: () => ++now, bucket: undefined }
  const { recipient } = await currentKey(deps)
  const recipe = { plan: 'free', sizeGb: 1, databaseName: 'app', databaseUser: 'app_user', parameterOverrides: {} }
  const known = { kind: 'postgres', workspaceId: 'tea-1', environmentId: null, name: 'shop', version: '18' } as const
  ensureBackupSet(db, { datastoreId, ...known, recipient, recipe, createdAt: 1 })
  mkdirSync(incomingIn(deps, datastoreId), { recursive: true })
})

function write(content: string, seconds: number): void {
  const path = incomingIn(deps, datastoreId, `${segment}.partial`)
  writeFileSync(path, Buffer.alloc(16 * 1024 * 1024, content))
  utimesSync(path, seconds, seconds)
}

const begun = () => objectsOf(deps.db, datastoreId, begunIn(0))

describe('the segment that is being written', () => {
  it('is stored when there is more of it, and not again when there is not', async () => {
    expect(await storeBegun(deps, datastoreId, { known: undefined, signal })).toBeUndefined()
    write('a', 1)
    const known = await storeBegun(deps, datastoreId, { known: undefined, signal })
    expect(begun()).toHaveLength(1)
    expect(await storeBegun(deps, datastoreId, { known, signal })).toBe(known)
    expect(begun()).toHaveLength(1)
    write('ab', 2)
    expect(await storeBegun(deps, datastoreId, { known, signal })).not.toBe(known)
    expect(begun()).toHaveLength(2)
  })

  it('stays at the bucket until more of it is there, or all of it', async () => {
    const add = (name: string, digest: string, isUploaded: boolean) => {
      insertObject(deps.db, { datastoreId, name, digest: digest.repeat(32), plainBytes: 1, packedBytes: 1, createdAt: ++now })
      if (isUploaded) updateObject(deps.db, { datastoreId, name, digest: digest.repeat(32) }, { uploadedAt: now })
    }
    const outdated = () => outdatedBegun(deps.db, datastoreId).map(({ digest }) => digest[0])
    add(begunIn(0) + segment, '1', true)
    expect(outdated()).toEqual([])
    add(begunIn(0) + segment, '2', false)
    add(begunIn(0) + segment, '3', false)
    expect(outdated()).toEqual(['2'])
    updateObject(deps.db, { datastoreId, name: begunIn(0) + segment, digest: '3'.repeat(32) }, { uploadedAt: now })
    expect(outdated()).toEqual(['1', '2'])
    add(`wal/${segment}`, '4', false)
    expect(outdated()).toEqual(['1', '2'])
    updateObject(deps.db, { datastoreId, name: `wal/${segment}`, digest: '4'.repeat(32) }, { uploadedAt: now })
    expect(outdated()).toEqual(['1', '2', '3'])
  })
})

it('is left open by nobody where it cannot be stored, however often that is tried', async () => {
  const path = incomingIn(deps, datastoreId, segment)
  writeFileSync(path, Buffer.alloc(16 * 1024 * 1024))
  deps.db.run('PRAGMA foreign_keys = OFF')
  deps.db.run('DELETE FROM backup_sets')
  for (let tries = 0; tries < 3; tries += 1) await expect(archiveWal(deps, datastoreId, signal)).rejects.toThrow('There are no backups')
  const opened = readdirSync('/proc/self/fd').filter((fd) => linkOf(fd) === path)
  expect(opened).toEqual([])
})

function linkOf(fd: string): string | undefined {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`)
  } catch {
    return undefined
  }
}
