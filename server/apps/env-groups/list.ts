import type { Database } from 'bun:sqlite'
import type { EnvGroupQuery } from '../../../shared/env-group.ts'
import type { IdPage } from '../../http/answers/page.ts'
import type { Viewer } from '../../identity/scopes/protection.ts'
import { type StoredGroup, selectGroups } from './store/group-store.ts'

const filter = `workspace_id = $workspaceId
  AND ($reach IS NULL OR environment_id IN (SELECT value FROM json_each($reach)) OR project_id IN (SELECT value FROM json_each($scopeProjects)))
  AND ($names IS NULL OR name IN (SELECT value FROM json_each($names)))
  AND ($environments IS NULL OR environment_id IN (SELECT value FROM json_each($environments)))
  AND ($projects IS NULL OR project_id IN (SELECT value FROM json_each($projects))
    OR environment_id IN (SELECT id FROM environments WHERE project_id IN (SELECT value FROM json_each($projects))))
  AND created_at > $createdAfter AND created_at < $createdBefore
  AND updated_at > $updatedAfter AND updated_at < $updatedBefore
  AND ($beforeId IS NULL OR id < $beforeId)`

export const listGroups = (db: Database, { workspaceId, scope }: Viewer, query: EnvGroupQuery & IdPage): StoredGroup[] =>
  selectGroups(db, filter, {
    workspaceId,
    reach: jsonOf(scope?.reach),
    scopeProjects: jsonOf(scope?.projectIds),
    names: jsonOf(query.name),
    environments: jsonOf(query.environmentId),
    projects: jsonOf(query.projectId),
    createdAfter: time(query.createdAfter) ?? -1,
    createdBefore: time(query.createdBefore) ?? Number.MAX_SAFE_INTEGER,
    updatedAfter: time(query.updatedAfter) ?? -1,
    updatedBefore: time(query.updatedBefore) ?? Number.MAX_SAFE_INTEGER,
    beforeId: query.beforeId ?? null,
    limit: query.limit,
  })

const jsonOf = (values: Iterable<string> | undefined): string | null => (values === undefined ? null : JSON.stringify([...values]))
const time = (text: string | undefined): number | undefined => (text === undefined ? undefined : Date.parse(text))
