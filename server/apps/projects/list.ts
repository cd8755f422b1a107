import type { Database } from 'bun:sqlite'
import type { EnvironmentQuery, ProjectQuery } from '../../../shared/project.ts'
import type { IdPage } from '../../http/answers/page.ts'
import type { Bindings } from '../../platform/db/table.ts'
import { commonBindings, commonFilter, listOrNull } from '../list-filter.ts'
import { environments, projects, type StoredEnvironment, type StoredProject } from './store.ts'

type Listed<Query> = Query & IdPage & { workspaceId: string; seen: ReadonlySet<string> | undefined }

const wanted = `WHERE workspace_id = $workspaceId
  AND ($seen IS NULL OR id IN (SELECT value FROM json_each($seen)))
  AND ${commonFilter}`

const ordered = 'ORDER BY id DESC LIMIT $limit'

export const listProjects = (db: Database, query: Listed<ProjectQuery>): StoredProject[] =>
  projects.all(db, `${wanted} ${ordered}`, bindingsOf(query))

export const listEnvironments = (db: Database, query: Listed<EnvironmentQuery>): StoredEnvironment[] =>
  environments.all(db, `${wanted} AND ($projects IS NULL OR project_id IN (SELECT value FROM json_each($projects))) ${ordered}`, {
    ...bindingsOf(query),
    projects: listOrNull(query.projectId),
  })

const bindingsOf = (query: Listed<ProjectQuery>): Bindings => ({
  workspaceId: query.workspaceId,
  seen: listOrNull(query.seen),
  ...commonBindings(query),
})
