import type { Database } from 'bun:sqlite'
import { Type } from '@sinclair/typebox'
import { json } from '../../../platform/db/json-column.ts'
import { tableOf } from '../../../platform/db/table.ts'
import type { RefUpdate } from '../protocol/commands.ts'

export interface StoredRepository {
  serviceId: string
  /** The branch that deploys where the service names none; null while none was pushed that could. */
  branch: string | null
  createdAt: number
}

export interface StoredPush {
  id: string
  serviceId: string
  deployId: string | null
  waitingRef: string | null
  updates: readonly RefUpdate[]
  createdAt: number
}

const repositories = tableOf<StoredRepository>('git_repositories', {
  serviceId: 'service_id',
  branch: 'branch',
  createdAt: 'created_at',
})

const updatesColumn = json({ schema: Type.Array(Type.Object({ ref: Type.String(), from: Type.String(), to: Type.String() })) })

const pushes = tableOf<StoredPush>('git_pushes', {
  id: 'id',
  serviceId: 'service_id',
  deployId: 'deploy_id',
  waitingRef: 'waiting_ref',
  updates: { column: 'updates', as: { ...updatesColumn, write: (updates) => updatesColumn.write([...updates]) } },
  createdAt: 'created_at',
})

/** What is known of the repository of a service; undefined where it has none. */
export const repositoryRow = (db: Database, serviceId: string): StoredRepository | undefined =>
  repositories.get(db, 'WHERE service_id = $serviceId', { serviceId })

/** Writes down that a service has a repository, at `now` in milliseconds since 1970. Repeatable. */
export function noteRepository(db: Database, serviceId: string, now: number): void {
  repositories.insert(db, { serviceId, branch: null, createdAt: now }, 'ON CONFLICT (service_id) DO NOTHING')
}

/** Keeps the branch that deploys from now on where the service names none. */
export function keepBranch(db: Database, serviceId: string, branch: string): void {
  repositories.update(db, { serviceId }, { branch })
}

/** Adds a push whose refs are to be moved. Belongs in the transaction of its deploy. */
export function insertPush(db: Database, push: StoredPush): void {
  pushes.insert(db, push)
}

/** A push that is not concluded; undefined for one that is. */
export const pushById = (db: Database, id: string): StoredPush | undefined => pushes.get(db, 'WHERE id = $id', { id })

/** The push of a service that is not concluded, if any: there is one at a time. */
export const pushOfService = (db: Database, serviceId: string): StoredPush | undefined =>
  pushes.get(db, 'WHERE service_id = $serviceId', { serviceId })

/** All pushes that are not concluded. */
export const openPushes = (db: Database): StoredPush[] => pushes.all(db, 'ORDER BY created_at')

/** Forgets a push that is concluded. */
export function removePush(db: Database, id: string): void {
  pushes.remove(db, { id })
}
