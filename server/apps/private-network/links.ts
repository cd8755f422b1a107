import type { Database } from 'bun:sqlite'
import { typesWith } from '../../../shared/service-type.ts'
import { slugify } from '../../../shared/slug.ts'
import type { LinkedService } from '../../engines/port/port.ts'
import { texts } from '../../platform/db/json-column.ts'
import { sqlList } from '../../platform/db/sql-list.ts'
import type { Owner } from '../../runtime/owner.ts'
import { ownerOf } from '../services/owner.ts'

export interface ListeningOwner extends Owner {
  name: string
  slug: string
  uid: number
  instanceIds: string[]
}

/** A service is reached by its slug, and by its plain name unless another service of the workspace could be meant by it. */
export function linksOf(owners: readonly ListeningOwner[]): LinkedService[] {
  const meant = Map.groupBy(
    owners.flatMap(({ workspaceId, name, slug, id }) =>
      [...new Set([slugify(name), slug])].map((word) => ({ key: `${workspaceId} ${word}`, id })),
    ),
    ({ key }) => key,
  )
  const isAlone = (workspaceId: string, word: string) => meant.get(`${workspaceId} ${word}`)?.length === 1
  return owners.map(({ id, workspaceId, name, slug, uid, instanceIds }) => {
    const plain = slugify(name)
    const names = plain !== slug && isAlone(workspaceId, plain) ? [slug, plain] : [slug]
    return { owner: { serviceId: id, workspaceId, number: uid }, names, instanceIds }
  })
}

interface Row {
  id: string
  workspace_id: string
  name: string
  slug: string
  uid: number
  instance_ids: string
}

export function listeningOwners(db: Database): ListeningOwner[] {
  return db
    .query<Row, []>(
      `SELECT s.id, s.workspace_id, s.name, s.slug, s.uid, json_group_array(i.id) FILTER (WHERE i.id IS NOT NULL) AS instance_ids
       FROM services s LEFT JOIN instances i ON i.service_id = s.id AND i.deploy_id = s.live_deploy_id
         AND i.generation = s.live_generation AND i.phase IN ('ready', 'serving')
       WHERE s.deleted_at IS NULL AND s.type IN (${sqlList(typesWith('listens'))})
       GROUP BY s.id ORDER BY s.id`,
    )
    .all()
    .map((row) => ({
      ...ownerOf({ id: row.id, workspaceId: row.workspace_id }),
      name: row.name,
      slug: row.slug,
      uid: row.uid,
      instanceIds: texts.read(row.instance_ids).toSorted(),
    }))
}
