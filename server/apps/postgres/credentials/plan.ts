/** What is to be run so that a server has the users that are written down, out of the roles that it has. */
import { quoteName, quoteText } from '../sql.ts'

/** Says of a role that it was made for a user of the platform, so that one without a row is known for what it is. */
export const MARK = 'cpd: made for a user of the API'

export interface WantedUser {
  name: string
  verifier: string
  /** Milliseconds since 1970. */
  validUntil: number | null
}

export interface KnownRole {
  name: string
  canLogin: boolean
  /** Milliseconds since 1970. */
  validUntil: number | null
  isMarked: boolean
}

export interface Roles {
  owner: string
  wanted: readonly WantedUser[]
  known: readonly KnownRole[]
}

export interface RolePlan {
  /** Each is a transaction of its own, run by a superuser. */
  statements: string[]
  /** Roles that are no longer wanted at all; whether they can be dropped is for each database to say. */
  drops: string[]
}

/** A role that can log in keeps its password: who has changed that by SQL goes on with it. */
export function planRoles({ owner, wanted, known }: Roles): RolePlan {
  const statements: string[] = []
  for (const user of wanted) {
    const role = known.find(({ name }) => name === user.name)
    if (role === undefined) statements.push(createRole(owner, user))
    else if ((user.name === owner || role.isMarked) && (!role.canLogin || role.validUntil !== user.validUntil))
      statements.push(alterRole(user, role))
  }
  const unwanted = known.filter(({ name }) => !wanted.some((user) => user.name === name))
  const ended = unwanted.filter(({ name, isMarked, canLogin }) => canLogin && (name === owner || isMarked))
  const drops = unwanted.filter(({ name, isMarked }) => name !== owner && isMarked).map(({ name }) => name)
  return { statements: [...statements, ...ended.map(({ name }) => endRole(name))], drops }
}

export const isTaken = (known: readonly KnownRole[], wanted: string): boolean =>
  known.some(({ name, isMarked }) => name === wanted && !isMarked)

/** What has to be run in the database that a role may own something in. */
export const dropRole = (name: string, owner: string): string =>
  [
    `REASSIGN OWNED BY ${quoteName(name)} TO ${quoteName(owner)};`,
    `DROP OWNED BY ${quoteName(name)};`,
    `DROP ROLE ${quoteName(name)};`,
  ].join('\n')

/** Statements sent together are one transaction, so a role that is there is whole. */
function createRole(owner: string, user: WantedUser): string {
  const name = quoteName(user.name)
  return [
    `CREATE ROLE ${name} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS PASSWORD ${quoteText(user.verifier)} ${untilOf(user)};`,
    `COMMENT ON ROLE ${name} IS ${quoteText(MARK)};`,
    `GRANT ${quoteName(owner)} TO ${name};`,
    // What it makes is the owner's, so that it can go without taking anything along.
    `ALTER ROLE ${name} SET role TO ${quoteName(owner)};`,
  ].join('\n')
}

function alterRole(user: WantedUser, { canLogin }: KnownRole): string {
  const password = canLogin ? '' : ` PASSWORD ${quoteText(user.verifier)}`
  return `ALTER ROLE ${quoteName(user.name)} LOGIN${password} ${untilOf(user)};`
}

/** Whoever acts as it is cut off first: its role cannot be changed while one of them is changing it. */
const endRole = (name: string): string =>
  [endConnections(name), `ALTER ROLE ${quoteName(name)} NOLOGIN PASSWORD NULL;`, endConnections(name)].join('\n')

const endConnections = (name: string): string =>
  `SELECT pg_catalog.pg_terminate_backend(pid) FROM pg_catalog.pg_stat_activity WHERE usename = ${quoteText(name)};`

const untilOf = ({ validUntil }: WantedUser): string =>
  `VALID UNTIL ${quoteText(validUntil === null ? 'infinity' : new Date(validUntil).toISOString())}`
