import type { Database } from 'bun:sqlite'
import { join } from 'node:path'
import type { BuildPlan } from '../../builders/plan.ts'
import { type Paths, servicePathsOf } from '../../platform/paths.ts'
import type { SecretRows, ServiceSecrets } from '../services/env-store.ts'
import type { ServiceSettings } from '../services/settings.ts'

/** How the built files are run. */
export interface Launch {
  runtime: BuildPlan['runtime']
  startCommand: string
  /** The folder of the files in which commands are run; absent for their root. */
  appDir?: string
  env: Record<string, string>
  pathEntries: string[]
  readOnlyBinds: string[]
}

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

interface ReleaseRow {
  id: string
  service_id: string
  source_id: string
  artifact: string
  launch: string
  settings: string
  secrets_sealed: string
  created_at: number
}

/** The folder of a release's built files. */
export const artifactDir = (paths: Paths, release: Pick<StoredRelease, 'serviceId' | 'artifact'>): string =>
  join(servicePathsOf(paths, release.serviceId).releases, release.artifact)

const purpose = (releaseId: string): string => `release ${releaseId}`

/** Adds a release with the secrets it was made with, sealed. */
export function insertRelease({ db, sealer }: SecretRows, release: StoredRelease, secrets: ServiceSecrets): void {
  db.query(
    `INSERT INTO releases (id, service_id, source_id, artifact, launch, settings, secrets_sealed, created_at)
     VALUES ($id, $serviceId, $sourceId, $artifact, $launch, $settings, $secrets, $createdAt)`,
  ).run({
    ...release,
    launch: JSON.stringify(release.launch),
    settings: JSON.stringify(release.settings),
    secrets: sealer.seal(JSON.stringify(secrets), purpose(release.id)),
  })
}

/** A release by id, for the platform's own work; undefined when it is no longer kept. */
export function releaseById(db: Database, id: string): StoredRelease | undefined {
  const row = db.query<ReleaseRow, [string]>('SELECT * FROM releases WHERE id = ?').get(id)
  return row === null ? undefined : present(row)
}

/** All releases of a service that are kept, in no order. */
export function listReleases(db: Database, serviceId: string): StoredRelease[] {
  return db.query<ReleaseRow, [string]>('SELECT * FROM releases WHERE service_id = ?').all(serviceId).map(present)
}

/** The variables and secret files a release was made with, in clear. */
export function releaseSecrets({ db, sealer }: SecretRows, releaseId: string): ServiceSecrets {
  const row = db.query<{ secrets_sealed: string }, [string]>('SELECT secrets_sealed FROM releases WHERE id = ?').get(releaseId)
  return row === null
    ? { envVars: [], secretFiles: [] }
    : (JSON.parse(sealer.open(row.secrets_sealed, purpose(releaseId))) as ServiceSecrets)
}

/** Gives a release other rules at the edge: headers and routes. */
export function setReleaseRules(db: Database, id: string, { headers, routes }: Pick<ServiceSettings, 'headers' | 'routes'>): void {
  db.query("UPDATE releases SET settings = json_set(settings, '$.headers', json($headers), '$.routes', json($routes)) WHERE id = $id").run({
    id,
    headers: JSON.stringify(headers),
    routes: JSON.stringify(routes),
  })
}

/** Forgets a release. Its built files are the pruner's. */
export function deleteRelease(db: Database, id: string): void {
  db.query('DELETE FROM releases WHERE id = ?').run(id)
}

const present = (row: ReleaseRow): StoredRelease => ({
  id: row.id,
  serviceId: row.service_id,
  sourceId: row.source_id,
  artifact: row.artifact,
  launch: JSON.parse(row.launch) as Launch,
  settings: JSON.parse(row.settings) as ServiceSettings,
  createdAt: row.created_at,
})
