import type { Database } from 'bun:sqlite'
import { typesWith } from '../../../shared/service-type.ts'
import { slugify } from '../../../shared/slug.ts'
import type { LinkedOwner } from '../../engines/port/port.ts'
import { texts } from '../../platform/db/json-column.ts'
import { sqlList } from '../../platform/db/sql-list.ts'
import { OWNER_KIND as DATASTORE } from '../datastores/store.ts'
import { networkName } from './names/network.ts'

export interface Member {
  id: string
  number: number
  network: string
  name: string
  slug: string
  listens: boolean
  instanceIds: string[]
}

/** A service that listens is reached by its slug, and by its plain name unless another of its network could be meant by it. */
export function linksOf(members: readonly Member[]): LinkedOwner[] {
  const meant = Map.groupBy(
    members
      .filter(({ listens }) => listens)
      .flatMap(({ network, name, slug }) => wordsOf({ name, slug }).map((word) => `${network} ${word}`)),
    (key) => key,
  )
  const isAlone = (network: string, word: string) => meant.get(`${network} ${word}`)?.length === 1
  const ids = new Set(members.map(({ id }) => id))
  const isAnothersId = (word: string, { id }: Member) => word !== id && ids.has(word)
  const namesOf = (member: Member) =>
    wordsOf(member).filter((word) => (word === member.slug || isAlone(member.network, word)) && !isAnothersId(word, member))
  return members.map((member) => {
    const { id, number, network, listens, instanceIds } = member
    return { owner: { id, number }, network, names: listens ? namesOf(member) : [], instanceIds }
  })
}

const wordsOf = ({ name, slug }: Pick<Member, 'name' | 'slug'>): string[] => [...new Set([slug, slugify(name)])]

interface Row {
  id: string
  workspace_id: string
  environment_id: string | null
  is_isolated: number | null
  is_foreign?: number
  name: string
  slug: string
  uid: number
  listens: number
  instance_ids: string
}

/** All services and datastores: what does not listen is in a network, too. */
export const membersOf = (db: Database): Member[] => [...servicesIn(db), ...datastoresIn(db)]

/** A datastore is reached by its id, whether it runs or not, so that a name that is written down never leads elsewhere. */
function datastoresIn(db: Database): Member[] {
  return db
    .query<Row, [string]>(
      `SELECT d.id, d.workspace_id, d.environment_id, e.is_isolated, d.id AS name, d.id AS slug, d.number AS uid, d.role <> 'standby' AS listens,
         json_group_array(w.id) FILTER (WHERE w.id IS NOT NULL) AS instance_ids
       FROM datastores d LEFT JOIN environments e ON e.id = d.environment_id
         LEFT JOIN workloads w ON w.owner_id = d.id AND w.owner_kind = ? AND w.phase = 'running'
       GROUP BY d.id ORDER BY d.id`,
    )
    .all(DATASTORE)
    .map(memberOf)
}

export function servicesIn(db: Database): Member[] {
  return db
    .query<Row, []>(
      `SELECT s.id, s.workspace_id, s.environment_id, e.is_isolated, s.foreign_commit IS NOT NULL AS is_foreign, s.name, s.slug, s.uid,
         s.type IN (${sqlList(typesWith('listens'))}) AS listens,
         json_group_array(i.id) FILTER (WHERE i.id IS NOT NULL) AS instance_ids
       FROM services s LEFT JOIN environments e ON e.id = s.environment_id
         LEFT JOIN instances i ON i.service_id = s.id AND i.deploy_id = s.live_deploy_id
         AND i.generation = s.live_generation AND i.phase IN ('ready', 'serving')
       WHERE s.deleted_at IS NULL
       GROUP BY s.id ORDER BY s.id`,
    )
    .all()
    .map(memberOf)
}

function memberOf({ id, workspace_id, environment_id, is_isolated, name, slug, uid, ...row }: Row): Member {
  const place = { workspaceId: workspace_id, environmentId: environment_id, isIsolated: is_isolated === 1 }
  const network = row.is_foreign === 1 ? id : networkName(place)
  const listens = row.listens === 1
  return { id, number: uid, network, name, slug, listens, instanceIds: listens ? texts.read(row.instance_ids).toSorted() : [] }
}
