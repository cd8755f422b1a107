/** The platform's superuser: nobody else's, and let in from this machine alone. */
export const ADMIN = 'cpd_admin'
/**
 * What holds for each session of the superuser. The owner of a database can have settings of its own for all who connect to it, the
 * superuser included: another role, another place to look names up, nothing but reading, commits that wait for a receiver, which comes after those of the platform. What a
 * client begins with goes before those.
 */
const ADMIN_SETTINGS = {
  search_path: 'pg_catalog',
  role: 'none',
  default_transaction_read_only: 'off',
  local_preload_libraries: '',
  idle_session_timeout: '0',
  statement_timeout: '0',
  synchronous_commit: 'local',
  lock_timeout: '0',
  idle_in_transaction_session_timeout: '0',
}

/** Version from which on a transaction as a whole has a limit of time. Servers refuse to begin with a setting that they do not know. */
const LIMITED_TRANSACTIONS = 17

export const adminSettings = (version: number): Readonly<Record<string, string>> => ({
  ...ADMIN_SETTINGS,
  ...(version >= LIMITED_TRANSACTIONS && { transaction_timeout: '0' }),
})

export const BACKUP = 'cpd_backup'
export const POOL = 'cpd_pool'

/** The database that a new cluster has ready. It gets its name and its owner at the first start; tenants can give no such name. */
export const NEW_DATABASE = 'cpd_new'

const RESERVED = new Set([
  'postgres',
  'public',
  'none',
  'template0',
  'template1',
  'current_user',
  'session_user',
  'current_role',
  'replication',
  'all',
])

/** Why tenants can give this name to no role or database, as a sentence; undefined where they can. */
export function nameProblem(name: string): string | undefined {
  if (/^(?:pg|cpd)_/.test(name)) return 'Names that begin with pg_ or cpd_ are kept for the server and the platform. Choose another.'
  return RESERVED.has(name) ? `${name} means something to the server already. Choose another name.` : undefined
}
