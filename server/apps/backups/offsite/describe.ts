import { createHash } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { identityOf } from '../repository/key.ts'
import { PACKED, setFoldersOf } from '../repository/layout.ts'
import { packFile } from '../repository/pack.ts'
import { ensureSetFolders, type RepositoryDeps } from '../repository/repository.ts'
import { backupsOf } from '../rows/backup-store.ts'
import { objectsOf } from '../rows/object-store.ts'
import { type BackupSet, backupSetOf } from '../rows/set-store.ts'
import { deletedAtOf } from '../rules/retention.ts'
import { type Description, writeDescription } from './description.ts'

/** How long a description may say less than is known when nothing but time has passed. */
const OUTDATED_MS = 60 * 60_000

export const DESCRIPTIONS = 'sets/'
export const keyOfDescription = (datastoreId: string): string => `${DESCRIPTIONS}${datastoreId}.json${PACKED}`

interface Written {
  digest: string
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
    const content = contentOf(deps, set)
    const digest = createHash('sha256').update(JSON.stringify(content)).digest('hex')
    if (content.backups.length === 0 || (known?.digest === digest && logUntil - known.logUntil < OUTDATED_MS)) return
    await put(deps, set, { format: 1, writtenAt: deps.now(), logUntil, ...content })
    written.set(datastoreId, { digest, logUntil })
  }
}

function contentOf({ db }: RepositoryDeps, set: BackupSet): Pick<Description, 'set' | 'backups' | 'objects'> {
  const { datastoreId, kind, name, version, recipient, recipe, createdAt } = set
  const stored = objectsOf(db, datastoreId)
  const isThere = (id: string) => {
    const own = stored.filter((object) => object.name.startsWith(`${id}/`))
    return own.length > 0 && own.every(({ uploadedAt }) => uploadedAt !== null)
  }
  const backups = backupsOf(db, datastoreId).filter(({ id, status }) => status === 'available' && isThere(id))
  return {
    set: { datastoreId, kind, name, version, recipient, recipe, createdAt },
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
    const { packedBytes } = await packFile([writeDescription(description, identityOf(deps, recipient))], path, { recipient })
    await deps.bucket?.put(keyOfDescription(datastoreId), path, packedBytes)
  } finally {
    await rm(path, { force: true })
  }
}
