import { randomBytes } from 'node:crypto'
import { AppError } from '../../../../shared/error.ts'
import { maxCredentials, type PostgresCredentialCreate } from '../../../../shared/postgres-credentials.ts'
import type { AppContext } from '../../context.ts'
import { credentialsOf, handedOut, insertCredential } from '../../datastores/credential-store.ts'
import { endpointOf } from '../../datastores/endpoint.ts'
import type { ServerEndpoint } from '../../datastores/kind.ts'
import { refuseReplica } from '../../datastores/operations.ts'
import type { StoredDatastore } from '../../datastores/store.ts'
import { recordEvent } from '../../events/store.ts'
import { answered, ownOf, requireEndpoint } from '../session.ts'
import { newPassword } from '../sql.ts'
import { alignUsers, alignUsersQuietly, knownRoles } from './align.ts'
import { userNameOf } from './names.ts'
import { isTaken } from './plan.ts'
import { limitUsers, removeUser } from './store.ts'

const HOUR_MS = 3_600_000

/** Makes a change with its audit entry, after the right to it was asked for again. */
type Change = <T>(apply: () => T) => T

/**
 * Gives a database a user that is handed out from now on, and returns its name. It is written down first, and taken back where the server
 * refuses it. @throws AppError conflict for a taken name, for too many, and while the database does not run.
 */
export async function addUser(
  context: AppContext,
  datastore: StoredDatastore,
  { body = {}, change }: { body: PostgresCredentialCreate | undefined; change: Change },
): Promise<string> {
  const { id } = datastore
  refuseReplica(datastore, 'its users are made there.')
  const name = userNameOf({ wanted: body.username, owner: ownOf(context, datastore).databaseUser, random: randomBytes(2).toString('hex') })
  const endpoint = requireEndpoint(context, datastore)
  refuseFull(context, datastore, name)
  await answered(context, id, async () => {
    if (isTaken(await knownRoles(context, { id, endpoint }), name)) throw taken(name)
  })
  change(() => {
    refuseFull(context, datastore, name)
    write(context, datastore, name)
  })
  await applied(context, { id, name, endpoint })
  if (body.formerValidHours === undefined) return name
  limitUsers(context.db, id, { until: context.now() + body.formerValidHours * HOUR_MS, except: name })
  await alignUsersQuietly(context, { id, endpoint })
  return name
}

function write(context: AppContext, { id, name: database, workspaceId }: StoredDatastore, name: string): void {
  const { db, sealer, now } = context
  const newest = credentialsOf(db, id)[0]?.createdAt ?? 0
  insertCredential(db, sealer, { datastoreId: id, userName: name, password: newPassword(), createdAt: Math.max(now(), newest + 1) })
  const details = { name: database, username: name, change: 'created' }
  recordEvent(db, { owner: { id, workspaceId }, type: 'postgres_credentials_changed', details, now: now() })
}

/** @throws AppError unavailable where the server did not take the user: then there is none. */
async function applied(context: AppContext, { id, name, endpoint }: { id: string; name: string; endpoint: ServerEndpoint }): Promise<void> {
  try {
    await answered(context, id, () => alignUsers(context, { id, endpoint }))
  } catch (error) {
    removeUser(context.db, id, name)
    throw error
  }
}

/** @throws AppError conflict for the user that connection strings name, not_found for one that there is not. */
export async function takeUser(
  context: AppContext,
  datastore: StoredDatastore,
  { name, change }: { name: string; change: Change },
): Promise<void> {
  const { db, sealer, now } = context
  const { id, workspaceId, name: database } = datastore
  refuseReplica(datastore, 'its users are deleted there.')
  change(() => {
    if (handedOut(db, sealer, id)?.user === name)
      throw new AppError('conflict', `Connection strings name ${name}. Make another user first: that one is named from then on.`)
    if (!removeUser(db, id, name)) throw new AppError('not_found', `The database ${database} has no user ${name}.`)
    const details = { name: database, username: name, change: 'deleted' }
    recordEvent(db, { owner: { id, workspaceId }, type: 'postgres_credentials_changed', details, now: now() })
  })
  const endpoint = endpointOf(context, datastore)
  // One that does not run is aligned when it comes up.
  if (endpoint !== undefined) await alignUsersQuietly(context, { id, endpoint })
}

function refuseFull({ db }: AppContext, { id }: StoredDatastore, name: string): void {
  const users = credentialsOf(db, id)
  if (users.some(({ userName }) => userName === name)) throw taken(name)
  if (users.length >= maxCredentials)
    throw new AppError('conflict', `A database has ${maxCredentials} users at most. Delete one that nobody connects as any more.`)
}

const taken = (name: string): AppError => new AppError('conflict', `The database has a role ${name} already. Choose another name.`)
