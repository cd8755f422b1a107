import type { Database } from 'bun:sqlite'
import type { Launch } from '../../builders/launch.ts'
import { json } from '../../platform/db/json-column.ts'
import { type Columns, tableOf } from '../../platform/db/table.ts'
import { settingsColumn } from '../services/columns.ts'
import type { SecretRows } from '../services/env-store.ts'
import type { ServiceSettings } from '../services/settings.ts'
import { ReleaseSecrets } from '../variables/release-secrets.ts'
import { launchColumn } from './launch-column.ts'

/** What a rollback goes back to. Immutable, but for the rules at the edge, which change at once. */
export interface StoredRelease {
  id: string
  serviceId: string
  sourceId: string
  artifact: string
  launch: Launch
  settings: ServiceSettings
  createdAt: number
}

const releaseColumns: Columns<StoredRelease> = {
  id: 'id',
  serviceId: 'service_id',
  sourceId: 'source_id',
  artifact: 'artifact',
  launch: { column: 'launch', as: launchColumn },
  settings: { column: 'settings', as: settingsColumn },
  createdAt: 'created_at',
}
const releases = tableOf<StoredRelease>('releases', releaseColumns)
const sealedReleases = tableOf<StoredRelease & { secrets: string }>('releases', { ...releaseColumns, secrets: 'secrets_sealed' })

const secretsIn = json({ schema: ReleaseSecrets })

const purpose = (releaseId: string): string => `release ${releaseId}`

/** Adds a release with the secrets it was made with, sealed. */
export function insertRelease({ db, sealer }: SecretRows, release: StoredRelease, secrets: ReleaseSecrets): void {
  sealedReleases.insert(db, { ...release, secrets: sealer.seal(JSON.stringify(secrets), purpose(release.id)) })
}

/** A release by id, for the platform's own work; undefined when it is no longer kept. */
export const releaseById = (db: Database, id: string): StoredRelease | undefined => releases.get(db, 'WHERE id = $id', { id })

/** All releases of a service that are kept, in no order. */
export const listReleases = (db: Database, serviceId: string): StoredRelease[] =>
  releases.all(db, 'WHERE service_id = $serviceId', { serviceId })

/** The variables and secret files a release was made with, in clear. */
export function releaseSecrets({ db, sealer }: SecretRows, releaseId: string): ReleaseSecrets {
  const row = db.query<{ secrets_sealed: string }, [string]>('SELECT secrets_sealed FROM releases WHERE id = ?').get(releaseId)
  return row === null ? { envVars: [], secretFiles: [] } : secretsIn.read(sealer.open(row.secrets_sealed, purpose(releaseId)))
}

/** Changes the rules at the edge of a release, the one thing of it that changes. */
export function setReleaseRules(db: Database, id: string, { headers, routes }: Pick<ServiceSettings, 'headers' | 'routes'>): void {
  db.query("UPDATE releases SET settings = json_set(settings, '$.headers', json($headers), '$.routes', json($routes)) WHERE id = $id").run({
    id,
    headers: JSON.stringify(headers),
    routes: JSON.stringify(routes),
  })
}

/** Folders that any release needs beside its own files, each once. */
export const stackFolders = (db: Database): string[] =>
  db
    .query<{ folder: string }, []>("SELECT DISTINCT value AS folder FROM releases, json_each(releases.launch, '$.readOnlyBinds')")
    .all()
    .map(({ folder }) => folder)

/** Forgets a release; its built files are left to the pruner. */
export function deleteRelease(db: Database, id: string): void {
  releases.remove(db, { id })
}
