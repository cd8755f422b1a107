import type { Database } from 'bun:sqlite'
import type { DatastoreProperty } from '../../../shared/env.ts'
import { flag } from '../../platform/db/codec.ts'
import { tableOf } from '../../platform/db/table.ts'
import type { Sealer } from '../../platform/secrets/seal.ts'

export interface SecretRows {
  db: Database
  sealer: Sealer
}

/** What a variable is told by a database or key-value store, each time that a release is made. */
export interface DatastoreReference {
  datastoreId: string
  property: DatastoreProperty
}

/** A variable as it was set. Only where `interpolate` is true are references in its value replaced; with `from` its value is empty. */
export interface EnvEntry {
  key: string
  value: string
  interpolate?: true
  from?: DatastoreReference
}

export interface SecretFileEntry {
  name: string
  content: string
}

interface EnvRow {
  serviceId: string
  key: string
  sealed: string
  isInterpolated: boolean
  datastoreId: string | null
  datastoreProperty: DatastoreProperty | null
}

interface SecretFileRow {
  serviceId: string
  name: string
  sealed: string
}

const envVars = tableOf<EnvRow>('env_vars', {
  serviceId: 'service_id',
  key: 'key',
  sealed: 'value_sealed',
  isInterpolated: { column: 'is_interpolated', as: flag },
  datastoreId: 'datastore_id',
  datastoreProperty: 'datastore_property',
})
const secretFiles = tableOf<SecretFileRow>('secret_files', { serviceId: 'service_id', name: 'name', sealed: 'content_sealed' })

const envPurpose = ({ serviceId, key }: Pick<EnvRow, 'serviceId' | 'key'>): string => `env ${serviceId} ${key}`
const filePurpose = ({ serviceId, name }: Pick<SecretFileRow, 'serviceId' | 'name'>): string => `file ${serviceId} ${name}`

const entryOf = ({ sealer }: SecretRows, row: EnvRow): EnvEntry => ({
  key: row.key,
  value: sealer.open(row.sealed, envPurpose(row)),
  ...(row.isInterpolated && { interpolate: true }),
  ...(row.datastoreId !== null &&
    row.datastoreProperty !== null && { from: { datastoreId: row.datastoreId, property: row.datastoreProperty } }),
})

/** All variables of a service in clear, by key. */
export const listEnv = (rows: SecretRows, serviceId: string): EnvEntry[] =>
  envVars.all(rows.db, 'WHERE service_id = $serviceId ORDER BY key', { serviceId }).map((row) => entryOf(rows, row))

/** How many variables of its own a service has, one of this key left out. */
export const countOtherEnv = ({ db }: Pick<SecretRows, 'db'>, serviceId: string, key: string): number =>
  db
    .query<{ count: number }, [string, string]>('SELECT count(*) AS count FROM env_vars WHERE service_id = ? AND key <> ?')
    .get(serviceId, key)?.count ?? 0

/** One variable in clear, or undefined. */
export function findEnv(rows: SecretRows, serviceId: string, key: string): EnvEntry | undefined {
  const row = envVars.get(rows.db, 'WHERE service_id = $serviceId AND key = $key', { serviceId, key })
  return row === undefined ? undefined : entryOf(rows, row)
}

/** Sets one variable, sealed under its service and key. */
export function setEnv({ db, sealer }: SecretRows, serviceId: string, { key, value, interpolate, from }: EnvEntry): void {
  const sealed = sealer.seal(value, envPurpose({ serviceId, key }))
  envVars.put(db, {
    ...{ serviceId, key, sealed, isInterpolated: interpolate === true },
    ...{ datastoreId: from?.datastoreId ?? null, datastoreProperty: from?.property ?? null },
  })
}

/** Removes a variable; false when the service has none of this key. */
export const deleteEnv = ({ db }: SecretRows, serviceId: string, key: string): boolean => envVars.remove(db, { serviceId, key }) > 0

/** Replaces all variables of a service in one transaction. */
export function replaceEnv(rows: SecretRows, serviceId: string, entries: readonly EnvEntry[]): void {
  rows.db.transaction(() => {
    envVars.remove(rows.db, { serviceId })
    for (const entry of entries) setEnv(rows, serviceId, entry)
  })()
}

/** Secret files of a service in clear, by name. */
export const listSecretFiles = (rows: SecretRows, serviceId: string): SecretFileEntry[] =>
  sealedFilesOf(rows, serviceId).map(({ name, open }) => ({ name, content: open() }))

/** A secret file that is opened when it is needed. Who compares two sees by `sealed` whether anybody has written one since. */
export interface SealedFile {
  name: string
  sealed: string
  open(): string
}

/** Secret files of a service, by name. */
export const sealedFilesOf = ({ db, sealer }: SecretRows, serviceId: string): SealedFile[] =>
  secretFiles.all(db, 'WHERE service_id = $serviceId ORDER BY name', { serviceId }).map((row) => ({
    name: row.name,
    sealed: row.sealed,
    open: () => sealer.open(row.sealed, filePurpose(row)),
  }))

/** Replaces all secret files of a service in one transaction. */
export function replaceSecretFiles({ db, sealer }: SecretRows, serviceId: string, files: readonly SecretFileEntry[]): void {
  db.transaction(() => {
    secretFiles.remove(db, { serviceId })
    for (const { name, content } of files)
      secretFiles.insert(db, { serviceId, name, sealed: sealer.seal(content, filePurpose({ serviceId, name })) })
  })()
}
