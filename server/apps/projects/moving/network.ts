import type { Database } from 'bun:sqlite'
import { typesWith } from '../../../../shared/service-type.ts'
import { sqlList } from '../../../platform/db/sql-list.ts'
import { datastoresOfWorkspace } from '../../datastores/store.ts'
import { linksOf } from '../../private-network/links.ts'
import { networkName } from '../../private-network/names/network.ts'
import type { Member } from './parted.ts'

export interface NetworkChange {
  /** Environments in which services and datastores will be, by their ids; null is none. */
  places?: ReadonlyMap<string, string | null>
  isolation?: ReadonlyMap<string, boolean>
}

interface Row {
  id: string
  workspaceId: string
  environmentId: string | null
  name: string
  slug: string
  number: number
  listens: number
}

interface Placed extends Pick<Row, 'id' | 'name' | 'environmentId'> {
  goesWith?: string
}

/** Services and datastores of a workspace with the networks in which they are before and after a change. */
export function membersOf(db: Database, workspaceId: string, { places = new Map(), isolation = new Map() }: NetworkChange): Member[] {
  const isolated = isolatedIn(db, workspaceId)
  const before = (environmentId: string | null) =>
    networkName({ workspaceId, environmentId, isIsolated: isolated.has(environmentId ?? '') })
  const after = (environmentId: string | null) =>
    networkName({ workspaceId, environmentId, isIsolated: isolation.get(environmentId ?? '') ?? isolated.has(environmentId ?? '') })
  const placed = ({ id, name, environmentId, goesWith = id }: Placed, hosts: readonly string[]): Member => ({
    ...{ id, name, environmentId, hosts },
    before: before(environmentId),
    after: after(places.has(goesWith) ? (places.get(goesWith) ?? null) : environmentId),
  })
  const rows = servicesIn(db, workspaceId)
  const links = linksOf(rows.map((row) => ({ ...row, listens: row.listens === 1, network: before(row.environmentId), instanceIds: [] })))
  const hosts = new Map(links.map(({ owner, names }) => [owner.id, names]))
  const datastores = datastoresOfWorkspace(db, workspaceId).filter(({ phase }) => phase !== 'deleting')
  return [
    ...rows.map((row) => placed(row, hosts.get(row.id) ?? [])),
    // A datastore is reached by its id, and replicas go where their primary goes.
    ...datastores.map((row) => placed({ ...row, goesWith: row.primaryId ?? row.id }, [row.id])),
  ]
}

const servicesIn = (db: Database, workspaceId: string): Row[] =>
  db
    .query<Row, [string]>(
      `SELECT id, workspace_id AS workspaceId, environment_id AS environmentId, name, slug, uid AS number,
         type IN (${sqlList(typesWith('listens'))}) AS listens
       FROM services WHERE workspace_id = ? AND deleted_at IS NULL ORDER BY id`,
    )
    .all(workspaceId)

const isolatedIn = (db: Database, workspaceId: string): ReadonlySet<string> =>
  new Set(
    db
      .query<{ id: string }, [string]>('SELECT id FROM environments WHERE workspace_id = ? AND is_isolated = 1')
      .all(workspaceId)
      .map(({ id }) => id),
  )
