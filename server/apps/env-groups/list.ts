import type { Database } from 'bun:sqlite'
import type { EnvGroupQuery } from '../../../shared/env-group.ts'
import type { IdPage } from '../../http/answers/page.ts'
import type { Viewer } from '../../identity/scopes/protection.ts'
import { commonBindings, commonFilter, listOrNull } from '../list-filter.ts'
import { type StoredGroup, selectGroups } from './store/group-store.ts'

const filter = `workspace_id = $workspaceId
  AND ($reach IS NULL OR environment_id IN (SELECT value FROM json_each($reach)) OR project_id IN (SELECT value FROM json_each($scopeProjects)))
  AND ($environments IS NULL OR environment_id IN (SELECT value FROM json_each($environments)))
  AND ($projects IS NULL OR project_id IN (SELECT value FROM json_each($projects))
    OR environment_id IN (SELECT id FROM environments WHERE project_id IN (SELECT value FROM json_each($projects))))
  AND ${commonFilter}`

export const listGroups = (db: Database, { workspaceId, scope }: Viewer, query: EnvGroupQuery & IdPage): StoredGroup[] =>
  selectGroups(db, filter, {
    workspaceId,
    reach: listOrNull(scope?.reach),
    scopeProjects: listOrNull(scope?.projectIds),
    environments: listOrNull(query.environmentId),
    projects: listOrNull(query.projectId),
    ...commonBindings(query),
  })
