import type { Database } from 'bun:sqlite'
import type { EnvironmentQuery, ProjectQuery } from '../../../shared/project.ts'
import type { IdPage } from '../../http/answers/page.ts'
import type { Bindings } from '../../platform/db/table.ts'
import { environments, projects, type StoredEnvironment, type StoredProject } from './store.ts'

type Listed<Query> = Query & IdPage & { workspaceId: string; seen: ReadonlySet<string> | undefined }

const wanted = `WHERE workspace_id = $workspaceId
  AND ($seen IS NULL OR id IN (SELECT value FROM json_each($seen)))
  AND ($names IS NULL OR name IN (SELECT value FROM json_each($names)))
  AND created_at > $createdAfter AND created_at < $createdBefore
  AND updated_at > $updatedAfter AND updated_at < $updatedBefore
  AND ($beforeId IS NULL OR id < $beforeId)`

const ordered = 'ORDER BY id DESC LIMIT $limit'

export const listProjects = (db: Database, query: Listed<ProjectQuery>): StoredProject[] =>
  projects.all(db, `${wanted} ${ordered}`, bindingsOf(query))

export const listEnvironments = (db: Database, query: Listed<EnvironmentQuery>): StoredEnvironment[] =>
  environments.all(db, `${wanted} AND ($projects IS NULL OR project_id IN (SELECT value FROM json_each($projects))) ${ordered}`, {
    ...bindingsOf(query),
    projects: jsonOf(query.projectId),
  })

const bindingsOf = (query: Listed<ProjectQuery>): Bindings => ({
  workspaceId: query.workspaceId,
  seen: jsonOf(query.seen),
  names: jsonOf(query.name),
  createdAfter: time(query.createdAfter) ?? -1,
  createdBefore: time(query.createdBefore) ?? Number.MAX_SAFE_INTEGER,
  updatedAfter: time(query.updatedAfter) ?? -1,
  updatedBefore: time(query.updatedBefore) ?? Number.MAX_SAFE_INTEGER,
  beforeId: query.beforeId ?? null,
  limit: query.limit,
})

const jsonOf = (values: Iterable<string> | undefined): string | null => (values === undefined ? null : JSON.stringify([...values]))
const time = (text: string | undefined): number | undefined => (text === undefined ? undefined : Date.parse(text))
