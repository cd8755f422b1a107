import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Endpoint } from '../../../platform/network/socket-way.ts'
import { workloadsOf } from '../../../runtime/workloads/store.ts'
import type { AppContext } from '../../context.ts'
import { passwordPurpose } from '../../datastores/credential-store.ts'
import { SERVER } from '../../datastores/owner.ts'
import { OWNER_KIND, type StoredDatastore } from '../../datastores/store.ts'
import { programsOf } from '../../postgres/programs.ts'
import { BACKUP } from '../../postgres/roles.ts'
import { postgresById } from '../../postgres/store.ts'
import { nextUid } from '../../services/user-ids.ts'
import type { StreamSource } from '../postgres/receiver.ts'
import type { Relays } from './relay.ts'

const UID_KEY = 'backup_uid'
const WAITING = 'synchronous_standby_names'

/** The user that tools run as: nobody else's, and the same for all databases. */
export function toolUid({ db }: Pick<AppContext, 'db'>): number {
  const stored = db.query<{ value: string }, [string]>('SELECT value FROM meta WHERE key = ?').get(UID_KEY)
  if (stored !== null) return Number(stored.value)
  const uid = nextUid(db)
  db.query('INSERT INTO meta (key, value) VALUES (?, ?)').run(UID_KEY, String(uid))
  return uid
}

/** Folder of the programs of a version; undefined where its tools for backups are not there. */
export async function toolsOf(context: AppContext, version: string): Promise<string | undefined> {
  const folder = await context.programs.ensure(programsOf(context, version).name)
  return existsSync(join(folder, 'bin', 'pg_receivewal')) ? folder : undefined
}

export interface RunningSource extends StreamSource {
  endpoint: Endpoint
}

/** The server of a database as its backups are taken from; undefined while it does not run, and where its tools are not there. */
export async function sourceOf(
  context: AppContext,
  relays: Relays,
  { id, version, phase }: StoredDatastore,
): Promise<RunningSource | undefined> {
  const { db, sealer } = context
  const own = postgresById(db, id)
  const server = workloadsOf(db, OWNER_KIND, id).find((workload) => workload.purpose === SERVER.purpose && workload.phase === 'running')
  if (own === undefined || phase !== 'ready' || server === undefined || server.address === null || server.port === null) return undefined
  const programs = await toolsOf(context, version)
  if (programs === undefined) return undefined
  const password = sealer.open(own.backupPasswordSealed, passwordPurpose(id, 'backup'))
  const endpoint = { host: server.address, port: server.port }
  const uid = toolUid(context)
  const areCommitsWaiting = [own.parameterOverrides, own.provenParameters].some((set) => WAITING in set)
  return { programs, endpoint, ...(await relays.open(id, endpoint, uid)), user: BACKUP, password, uid, areCommitsWaiting }
}
