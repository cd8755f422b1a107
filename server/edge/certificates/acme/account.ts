import type { Database } from 'bun:sqlite'
import type { EdgeContext } from '../../context.ts'
import { newEcKey } from '../x509/ec-key.ts'

type AccountContext = Pick<EdgeContext, 'db' | 'sealer' | 'now'>

/** Our account at one directory. Its PEM key is kept before the account is opened, so that an open account is never lost. */
export interface Account {
  key: string
  url: string | undefined
}

const keyPurposeOf = (directory: string): string => `acme account ${directory}`

export function accountAt({ db, sealer, now }: AccountContext, directory: string): Account {
  const held = db
    .query<{ key_sealed: string; url: string | null }, [string]>('SELECT key_sealed, url FROM acme_accounts WHERE directory = ?')
    .get(directory)
  if (held !== null) return { key: sealer.open(held.key_sealed, keyPurposeOf(directory)), url: held.url ?? undefined }
  const key = newEcKey()
  db.query('INSERT INTO acme_accounts (directory, key_sealed, created_at) VALUES (?, ?, ?)').run(
    directory,
    sealer.seal(key, keyPurposeOf(directory)),
    now(),
  )
  return { key, url: undefined }
}

export const keepAccountUrl = (db: Database, directory: string, url: string | null): void =>
  void db.query('UPDATE acme_accounts SET url = ? WHERE directory = ?').run(url, directory)
