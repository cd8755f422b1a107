import { AppError } from '../../../../shared/error.ts'
import type { NewPostgresCredential, PostgresCredential } from '../../../../shared/postgres-credentials.ts'
import type { AppContext } from '../../context.ts'
import { credentialsOf, handedOut, passwordPurpose, type StoredCredential } from '../../datastores/credential-store.ts'
import { endpointOf } from '../../datastores/endpoint.ts'
import type { StoredDatastore } from '../../datastores/store.ts'
import { asAdmin } from '../session.ts'

const iso = (ms: number): string => new Date(ms).toISOString()

/** The users of a database, the newest first, with how many connect as each while it answers. */
export async function presentUsers(context: AppContext, datastore: StoredDatastore): Promise<PostgresCredential[]> {
  const open = await openConnections(context, datastore)
  return goodUsers(context, datastore).map((credential) => presentUser(context, credential, open))
}

/** A user that was made just now, with its password. @throws AppError not_found for one that went meanwhile. */
export function presentNewUser(context: AppContext, datastore: StoredDatastore, name: string): NewPostgresCredential {
  const found = goodUsers(context, datastore).find(({ userName }) => userName === name)
  if (found === undefined) throw new AppError('not_found', `The user ${name} was deleted meanwhile.`)
  const password = context.sealer.open(found.passwordSealed, passwordPurpose(datastore.id, name))
  return { ...presentUser(context, found, undefined), password }
}

const goodUsers = ({ db, now }: AppContext, { id }: StoredDatastore): StoredCredential[] =>
  credentialsOf(db, id).filter(({ validUntil }) => validUntil === null || validUntil > now())

function presentUser(
  { db, sealer }: AppContext,
  { datastoreId, userName, validUntil, createdAt }: StoredCredential,
  open: ReadonlyMap<string, number> | undefined,
): PostgresCredential {
  return {
    username: userName,
    default: handedOut(db, sealer, datastoreId)?.user === userName,
    createdAt: iso(createdAt),
    ...(validUntil !== null && { expiresAt: iso(validUntil) }),
    ...(open && { openConnections: open.get(userName) ?? 0 }),
  }
}

async function openConnections(context: AppContext, datastore: StoredDatastore): Promise<ReadonlyMap<string, number> | undefined> {
  const endpoint = endpointOf(context, datastore)
  if (endpoint === undefined) return undefined
  try {
    return await asAdmin(context, { id: datastore.id, endpoint }, async (sql) => {
      const rows = await sql.run(
        'SELECT usename AS name, count(*) AS open FROM pg_stat_activity WHERE usename IS NOT NULL GROUP BY usename LIMIT 10000',
      )
      return new Map(rows.map(({ name, open }) => [String(name), Number(open)]))
    })
  } catch {
    return undefined
  }
}
