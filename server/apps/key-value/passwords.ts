import { randomBytes } from 'node:crypto'
import { formerPasswordHours, type KeyValueCredential } from '../../../shared/key-value.ts'
import type { AppContext } from '../context.ts'
import { credentialsOf, handedOut, insertCredential, passwordPurpose, replaceCredential } from '../datastores/credential-store.ts'
import type { Passwords } from './server/acl.ts'
import { requireRow, type StoredKeyValue, updateKeyValue } from './store.ts'

type Deps = Pick<AppContext, 'db' | 'sealer' | 'now'>

const PASSWORD_BYTES = 24
const HOUR_MS = 3_600_000

/** Hexadecimal: it stands in URLs, command lines and the server's own files as it is. */
export const newPassword = (): string => randomBytes(PASSWORD_BYTES).toString('hex')

export const ADMIN = 'admin'
const FORMER = 'former'

/** The user is named as the store: the way in from outside tells by it whom a connection is for. */
export const giveFirstPassword = ({ db, sealer, now }: Deps, id: string): void =>
  insertCredential(db, sealer, { datastoreId: id, userName: id, password: newPassword(), createdAt: now() })

/** What is handed out. @throws Error for a store without a password, which none is. */
export function currentPassword({ db, sealer }: Pick<Deps, 'db' | 'sealer'>, id: string): string {
  const found = handedOut(db, sealer, id)
  if (found === undefined) throw new Error(`The key-value store ${id} has no password`)
  return found.password
}

export const adminPassword = ({ sealer }: Pick<Deps, 'sealer'>, { id, adminPasswordSealed }: StoredKeyValue): string =>
  sealer.open(adminPasswordSealed, passwordPurpose(id, ADMIN))

export function passwordsOf({ db, sealer, now }: Deps, own: StoredKeyValue): Passwords {
  const former = hasFormer(own, now()) ? [sealer.open(own.formerPasswordSealed, passwordPurpose(own.id, FORMER))] : []
  return { admin: adminPassword({ sealer }, own), tenant: [currentPassword({ db, sealer }, own.id), ...former] }
}

type WithFormer = StoredKeyValue & { formerPasswordSealed: string; formerCreatedAt: number; formerValidUntil: number }

const hasFormer = (own: StoredKeyValue, now: number): own is WithFormer =>
  own.formerPasswordSealed !== null && own.formerValidUntil !== null && own.formerValidUntil > now

/** Has a new password be handed out from now on. Part of the caller's transaction. */
export function rotatePassword({ db, sealer, now }: Deps, id: string, hours: number = formerPasswordHours.default): void {
  const former = {
    formerPasswordSealed: sealer.seal(currentPassword({ db, sealer }, id), passwordPurpose(id, FORMER)),
    formerCreatedAt: createdAtOf(db, id),
    formerValidUntil: now() + hours * HOUR_MS,
  }
  const none = { formerPasswordSealed: null, formerCreatedAt: null, formerValidUntil: null, isCutting: true }
  updateKeyValue(db, id, hours > 0 ? former : none)
  replaceCredential(db, sealer, { datastoreId: id, userName: id, password: newPassword(), createdAt: now() })
}

const createdAtOf = (db: Deps['db'], id: string): number => credentialsOf(db, id)[0]?.createdAt ?? 0

/** When what is good changes by itself (ms since 1970). */
export const nextChangeOf = ({ formerValidUntil }: StoredKeyValue, now: number): number | undefined =>
  formerValidUntil !== null && formerValidUntil > now ? formerValidUntil : undefined

export function presentCredentials(deps: Deps, id: string): KeyValueCredential[] {
  const iso = (ms: number): string => new Date(ms).toISOString()
  const current = { username: id, default: true, createdAt: iso(createdAtOf(deps.db, id)) }
  const own = requireRow(deps.db, id)
  if (!hasFormer(own, deps.now())) return [current]
  return [current, { username: id, default: false, createdAt: iso(own.formerCreatedAt), expiresAt: iso(own.formerValidUntil) }]
}
