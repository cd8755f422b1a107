import { SQL } from 'bun'
import { messageOf } from '../../../../shared/error.ts'
import type { PostgresConnection, SqlRow } from '../../../platform/postgres/connect.ts'
import { describeError } from '../../../platform/server-log.ts'
import type { AppContext } from '../../context.ts'
import { credentialsOf, passwordPurpose } from '../../datastores/credential-store.ts'
import type { ServerEndpoint } from '../../datastores/kind.ts'
import { asAdmin, ownOf } from '../session.ts'
import { quoteText, scramVerifier } from '../sql.ts'
import { dropRole, type KnownRole, MARK, planRoles, type WantedUser } from './plan.ts'
import { removeExpiredUsers } from './store.ts'

type Deps = Pick<AppContext, 'db' | 'sealer' | 'connectPostgres' | 'now' | 'log'>

interface Place {
  id: string
  endpoint: ServerEndpoint
}

/** Has a server know the users that are written down, and no others of the platform's making. Repeatable. @throws whatever refuses. */
export async function alignUsers(context: Deps, { id, endpoint }: Place): Promise<void> {
  const { databaseName: database, databaseUser: owner } = ownOf(context, { id })
  removeExpiredUsers(context.db, { datastoreId: id, now: context.now(), except: owner })
  const wanted = wantedUsers(context, id)
  const { statements, drops } = planRoles({ owner, wanted, known: await knownRoles(context, { id, endpoint }) })
  if (statements.length > 0)
    await asAdmin(context, { id, endpoint }, async (sql) => {
      for (const statement of statements) await runOverLocks(sql, statement)
    })
  for (const name of drops) {
    try {
      await asAdmin(context, { id, endpoint, database }, (sql) => sql.run(dropRole(name, owner)))
    } catch (error) {
      // The role cannot log in any more. Another database may have something of it; the next change tries again.
      context.log.info('role of a former user kept', { datastoreId: id, reason: messageOf(error) })
    }
  }
}

const MOST_TRIES = 4

/** Changes a role though somebody holds it in a transaction that never ends, as a user could who is to go. */
async function runOverLocks(sql: PostgresConnection, statement: string): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await sql.run(statement)
      return
    } catch (error) {
      if (tries === MOST_TRIES || !isLocked(error)) throw error
      await sql.run(END_CHANGES_OF_ROLES)
    }
  }
}

const LOCK_NOT_AVAILABLE = '55P03'
/** PostgreSQL has no code of its own for a row of its catalog that another transaction has changed meanwhile. */
const isLocked = (error: unknown): boolean =>
  error instanceof SQL.PostgresError && (error.errno === LOCK_NOT_AVAILABLE || error.message.includes('concurrently updated'))

const END_CHANGES_OF_ROLES = `SELECT pg_catalog.pg_terminate_backend(pid) FROM pg_catalog.pg_locks
  WHERE relation = 'pg_catalog.pg_authid'::pg_catalog.regclass AND mode = 'RowExclusiveLock' AND granted AND pid <> pg_catalog.pg_backend_pid()`

/** Aligns what may have been cut off before; a server that is up is not held up by it. */
export async function alignUsersQuietly(context: Deps, place: Place): Promise<void> {
  try {
    await alignUsers(context, place)
  } catch (error) {
    context.log.error('users of a database not aligned', { datastoreId: place.id, ...describeError(error) })
  }
}

export const knownRoles = (context: Deps, { id, endpoint }: Place): Promise<KnownRole[]> =>
  asAdmin(context, { id, endpoint }, async (sql) => (await sql.run(ROLES)).map(roleOf))

const ROLES = `SELECT rolname AS name, rolcanlogin AS can_login,
  CASE WHEN rolvaliduntil < 'infinity' THEN (extract(epoch FROM rolvaliduntil) * 1000)::float8 END AS valid_until,
  coalesce(shobj_description(oid, 'pg_authid') = ${quoteText(MARK)}, false) AS is_marked
  FROM pg_roles WHERE rolname !~ '^(pg|cpd)_' LIMIT 10000`

const roleOf = ({ name, can_login, valid_until, is_marked }: SqlRow): KnownRole => ({
  name: String(name),
  canLogin: isTrue(can_login),
  validUntil: valid_until == null ? null : Math.round(Number(valid_until)),
  isMarked: isTrue(is_marked),
})

/** Answers to what is sent without values come as text. */
const isTrue = (value: unknown): boolean => value === true || value === 't'

const wantedUsers = ({ db, sealer }: Deps, id: string): WantedUser[] =>
  credentialsOf(db, id).map(({ userName, passwordSealed, validUntil }) => ({
    name: userName,
    verifier: scramVerifier(sealer.open(passwordSealed, passwordPurpose(id, userName))),
    validUntil,
  }))
