import type { Database } from 'bun:sqlite'
import { tableOf } from '../../platform/db/table.ts'
import type { Sealer } from '../../platform/secrets/seal.ts'

/** A password that a tenant connects with. Times are milliseconds since 1970. */
export interface StoredCredential {
  datastoreId: string
  userName: string
  passwordSealed: string
  /** Null for the one that is handed out; when it ends for one that was replaced. */
  validUntil: number | null
  createdAt: number
}

const credentials = tableOf<StoredCredential>('datastore_credentials', {
  datastoreId: 'datastore_id',
  userName: 'user_name',
  passwordSealed: 'password_sealed',
  validUntil: 'valid_until',
  createdAt: 'created_at',
})

/** What a password of a datastore is sealed for: that of a user by the user's name, those of the platform by `admin` and `backup`. */
export const passwordPurpose = (datastoreId: string, user: string): string => `datastores.${datastoreId}.${user}`

export type NewCredential = Pick<StoredCredential, 'datastoreId' | 'userName' | 'createdAt'> & { password: string }

/** Writes a credential down that is handed out from now on. */
export function insertCredential(db: Database, sealer: Sealer, { password, ...credential }: NewCredential): void {
  const passwordSealed = sealer.seal(password, passwordPurpose(credential.datastoreId, credential.userName))
  credentials.insert(db, { ...credential, passwordSealed, validUntil: null })
}

/** Has another password be handed out in place of that of the same user. */
export function replaceCredential(db: Database, sealer: Sealer, { password, ...credential }: NewCredential): void {
  const passwordSealed = sealer.seal(password, passwordPurpose(credential.datastoreId, credential.userName))
  credentials.put(db, { ...credential, passwordSealed, validUntil: null })
}

/** All credentials of a datastore, newest first, those that have been replaced included. Those of a replica are its primary's. */
export const credentialsOf = (db: Database, datastoreId: string): StoredCredential[] =>
  credentials.all(
    db,
    `WHERE datastore_id = coalesce((SELECT primary_id FROM datastores WHERE id = $datastoreId), $datastoreId)
     ORDER BY created_at DESC, user_name`,
    { datastoreId },
  )

/** What is handed out to who connects: the newest that was not replaced; undefined where there is none. */
export function handedOut(db: Database, sealer: Sealer, datastoreId: string): { user: string; password: string } | undefined {
  const found = credentialsOf(db, datastoreId).find(({ validUntil }) => validUntil === null)
  if (found === undefined) return undefined
  return { user: found.userName, password: sealer.open(found.passwordSealed, passwordPurpose(found.datastoreId, found.userName)) }
}
