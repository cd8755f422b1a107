import type { Database } from 'bun:sqlite'
import type { EnvVar, SecretFile } from '../../../shared/env.ts'
import { isId } from '../../../shared/id.ts'
import { nameOfDatastore } from '../datastores/store.ts'
import type { DatastoreReference, EnvEntry, SecretFileEntry } from '../services/env-store.ts'

export const shownEnv = (db: Database, isShown: boolean, { key, value, interpolate, from }: EnvEntry): EnvVar => ({
  key,
  ...(isShown ? { value } : { value: '', hidden: true }),
  ...(interpolate === true && { interpolate }),
  ...(from !== undefined && shownReference(db, from)),
})

function shownReference(db: Database, { datastoreId: id, property }: DatastoreReference): Pick<EnvVar, 'fromDatabase' | 'fromKeyValue'> {
  const name = nameOfDatastore(db, id)
  const shown = { id, ...(name !== undefined && { name }) }
  if (!isId('keyValue', id)) return { fromDatabase: { ...shown, property } }
  return property === 'database' || property === 'connectionPoolString' ? {} : { fromKeyValue: { ...shown, property } }
}

export const shownFile = (isShown: boolean, file: SecretFileEntry): SecretFile =>
  isShown ? file : { name: file.name, content: '', hidden: true }
