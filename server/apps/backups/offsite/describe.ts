import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { identityOf } from '../repository/key.ts'
import { PACKED, setFoldersOf } from '../repository/layout.ts'
import { packFile } from '../repository/pack.ts'
import { packIsolated } from '../repository/pack-isolated.ts'
import { ensureSetFolders, type RepositoryDeps } from '../repository/repository.ts'
import { backupsOf } from '../rows/backup-store.ts'
import { objectsOf, uploadedMark } from '../rows/object-store.ts'
import { type BackupSet, backupSetOf } from '../rows/set-store.ts'
import { deletedAtOf } from '../rules/retention.ts'
import { type Description, writeDescription } from './description.ts'

/** How long a description may say less than is known when nothing but time has passed. */
const OUTDATED_MS = 60 * 60_000

export const DESCRIPTIONS = 'sets/'
export const keyOfDescription = (datastoreId: string): string => `${DESCRIPTIONS}${datastoreId}.json${PACKED}`

interface Written {
  mark: string
  logUntil: number
}

/** Returns what puts the description of a set to the bucket, where it says more than the last one did. */
export function createDescriber(deps: RepositoryDeps): (datastoreId: string, logUntil: number) => Promise<void> {
  const written = new Map<string, Written>()
  return async (datastoreId, readUntil) => {
    const set = backupSetOf(deps.db, datastoreId)
    if (set === undefined || set.isRemoving) return
    const known = written.get(datastoreId)
    const logUntil = set.keptUntil === null ? readUntil : deletedAtOf(set.keptUntil)
    const mark = markOf(deps.db, set)
    if (known?.mark === mark && logUntil - known.logUntil < OUTDATED_MS) return
    const content = contentOf(deps, set)
    const format = content.set.former === undefined ? 1 : 2
    if (content.backups.length > 0) await put(deps, set, { format, writtenAt: deps.now(), logUntil, ...content })
    written.set(datastoreId, { mark, logUntil })
  }
}

/** Changes with what a description says: those of busy databases name a hundred thousand files, which are not read for nothing every few seconds. */
const markOf = (db: RepositoryDeps['db'], { datastoreId, name, version, lineage, recipe, keptUntil }: BackupSet): string =>
  JSON.stringify([name, version, lineage, recipe, keptUntil, backupsOf(db, datastoreId), uploadedMark(db, datastoreId)])

const LARGE_BYTES = 1024 * 1024

function contentOf({ db }: RepositoryDeps, set: BackupSet): Pick<Description, 'set' | 'backups' | 'objects'> {
  const { datastoreId, kind, name, version, recipient, recipe, createdAt, lineage, former } = set
  const lineages = lineage === 0 ? {} : { lineage, former }
  const stored = objectsOf(db, datastoreId)
  const isThere = (id: string) => {
    const own = stored.filter((object) => object.name.startsWith(`${id}/`))
    return own.length > 0 && own.every(({ uploadedAt }) => uploadedAt !== null)
  }
  const backups = backupsOf(db, datastoreId).filter(({ id, status }) => status === 'available' && isThere(id))
  return {
    set: { datastoreId, kind, name, version, recipient, recipe, createdAt, ...lineages },
    backups: backups.map(({ datastoreId: _, status: __, reason: ___, ...backup }) => backup),
    objects: stored
      .filter(({ uploadedAt }) => uploadedAt !== null)
      .map((object) => ({
        ...{ name: object.name, digest: object.digest, createdAt: object.createdAt },
        ...{ plainBytes: object.plainBytes, packedBytes: object.packedBytes },
      })),
  }
}

async function put(deps: RepositoryDeps, { datastoreId, recipient }: BackupSet, description: Description): Promise<void> {
  await ensureSetFolders(deps, datastoreId)
  const path = join(setFoldersOf(deps.paths, datastoreId).work, crypto.randomUUID())
  try {
    const content = writeDescription(description, identityOf(deps, recipient))
    const isLarge = content.length > LARGE_BYTES
    const { packedBytes } = await (isLarge
      ? packIsolated([content], path, { recipient, kind: 'log' })
      : packFile([content], path, { recipient }))
    await deps.bucket?.put(keyOfDescription(datastoreId), path, packedBytes)
  } finally {
    await rm(path, { force: true })
  }
}
