import type { Database } from 'bun:sqlite'
import { generateX25519Identity, identityToRecipient } from 'age-encryption'
import { AppError } from '../../../../shared/error.ts'
import { tableOf } from '../../../platform/db/table.ts'
import type { Sealer } from '../../../platform/secrets/seal.ts'

interface StoredKey {
  recipient: string
  identitySealed: string
  createdAt: number
}

const keys = tableOf<StoredKey>('backup_keys', { recipient: 'recipient', identitySealed: 'identity_sealed', createdAt: 'created_at' })

export interface BackupKey {
  recipient: string
  /** `AGE-SECRET-KEY-1…`: opens every backup that was made for the recipient. */
  identity: string
}

interface Deps {
  db: Database
  sealer: Sealer
  now(): number
}

const purposeOf = (recipient: string): string => `backup key ${recipient}`

export async function currentKey({ db, sealer, now }: Deps): Promise<BackupKey> {
  const newest = () => keys.get(db, 'ORDER BY created_at DESC, recipient')
  if (newest() === undefined) {
    const identity = await generateX25519Identity()
    const recipient = await identityToRecipient(identity)
    if (newest() === undefined) addKey({ db, sealer, now }, { recipient, identity })
  }
  const stored = newest()
  if (stored === undefined) throw new Error('The key of backups was not kept')
  return opened(sealer, stored)
}

/** Keeps a key, such as that of backups of another installation. */
export function addKey({ db, sealer, now }: Deps, { recipient, identity }: BackupKey): void {
  keys.insert(db, { recipient, identitySealed: sealer.seal(identity, purposeOf(recipient)), createdAt: now() }, 'ON CONFLICT DO NOTHING')
}

/** What opens backups that were made for this recipient. @throws AppError not_found for a key that this installation does not have. */
export function identityOf({ db, sealer }: Pick<Deps, 'db' | 'sealer'>, recipient: string): string {
  const stored = keys.get(db, 'WHERE recipient = $recipient', { recipient })
  if (stored === undefined) throw new AppError('not_found', `The key for ${recipient} is not here. Give it with cpd backups adopt --key.`)
  return opened(sealer, stored).identity
}

const opened = (sealer: Sealer, { recipient, identitySealed }: StoredKey): BackupKey => ({
  recipient,
  identity: sealer.open(identitySealed, purposeOf(recipient)),
})
