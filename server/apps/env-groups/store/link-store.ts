import type { Database } from 'bun:sqlite'
import type { ServiceType } from '../../../../shared/service-type.ts'

/** A group as a service is linked to it, with its variables sealed. */
export interface LinkedGroup {
  id: string
  name: string
  sealed: string
}

/** The groups of a service, the one that was linked last first. */
export const groupsOfService = (db: Database, serviceId: string): LinkedGroup[] =>
  db
    .query<LinkedGroup, [string]>(
      `SELECT g.id, g.name, g.vars_sealed AS sealed FROM env_group_links l JOIN env_groups g ON g.id = l.group_id
       WHERE l.service_id = ? ORDER BY l.position DESC`,
    )
    .all(serviceId)

/** A group as services that are linked to it see it; undefined when there is none of this id. */
export const linkedGroup = (db: Database, id: string): LinkedGroup | undefined =>
  db.query<LinkedGroup, [string]>('SELECT id, name, vars_sealed AS sealed FROM env_groups WHERE id = ?').get(id) ?? undefined

export interface LinkedService {
  id: string
  name: string
  type: ServiceType
}

/** The services that a group is linked to, by name, without those that are being deleted. */
export const servicesOfGroup = (db: Database, groupId: string): LinkedService[] =>
  db
    .query<LinkedService, [string]>(
      `SELECT s.id, s.name, s.type FROM env_group_links l JOIN services s ON s.id = l.service_id
       WHERE l.group_id = ? AND s.deleted_at IS NULL ORDER BY s.name`,
    )
    .all(groupId)

/** The environments in which services are that a group is linked to, each once. */
export const environmentsServed = (db: Database, groupId: string): string[] =>
  db
    .query<{ id: string }, [string]>(
      `SELECT DISTINCT s.environment_id AS id FROM env_group_links l JOIN services s ON s.id = l.service_id
       WHERE l.group_id = ? AND s.deleted_at IS NULL AND s.environment_id IS NOT NULL`,
    )
    .all(groupId)
    .map(({ id }) => id)

export interface PlacedLink {
  serviceId: string
  serviceName: string
  serviceEnvironmentId: string | null
  groupId: string
  groupName: string
  environmentId: string | null
  projectId: string | null
}

/** Links of which an end is among these ids, without those of services that are being deleted. */
export const linksAmong = (db: Database, ids: readonly string[]): PlacedLink[] =>
  db
    .query<PlacedLink, [{ ids: string }]>(
      `SELECT s.id AS serviceId, s.name AS serviceName, s.environment_id AS serviceEnvironmentId, g.id AS groupId, g.name AS groupName,
         g.environment_id AS environmentId, g.project_id AS projectId
       FROM env_group_links l JOIN services s ON s.id = l.service_id JOIN env_groups g ON g.id = l.group_id
       WHERE s.deleted_at IS NULL
       AND (l.service_id IN (SELECT value FROM json_each($ids)) OR l.group_id IN (SELECT value FROM json_each($ids)))
       ORDER BY s.name, g.name`,
    )
    .all({ ids: JSON.stringify(ids) })

/** Links a service to a group, after those it is linked to. One that is linked keeps its place. */
export function addLink(db: Database, { serviceId, groupId }: { serviceId: string; groupId: string }): void {
  db.query(
    `INSERT INTO env_group_links (service_id, group_id, position)
     VALUES ($serviceId, $groupId, 1 + coalesce((SELECT max(position) FROM env_group_links WHERE service_id = $serviceId), 0))
     ON CONFLICT DO NOTHING`,
  ).run({ serviceId, groupId })
}

/** Takes a link away; false when there was none. */
export const removeLink = (db: Database, { serviceId, groupId }: { serviceId: string; groupId: string }): boolean =>
  db.query('DELETE FROM env_group_links WHERE service_id = ? AND group_id = ?').run(serviceId, groupId).changes > 0
