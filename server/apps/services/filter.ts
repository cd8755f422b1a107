import type { ServiceQuery } from '../../../shared/service.ts'
import { defaultLabels } from '../../../shared/service-labels.ts'
import { typesWith } from '../../../shared/service-type.ts'
import { scopeFilter } from '../../identity/scopes/filter.ts'
import type { Viewer } from '../../identity/scopes/protection.ts'
import { sqlList } from '../../platform/db/sql-list.ts'

export interface SqlFilter {
  where: string
  values: Record<string, string | number>
}

type Condition = { sql: string; values: Record<string, string | number> } | undefined

const shownRuntime = `CASE WHEN type IN (${sqlList(typesWith('runsProgram'))})
   THEN coalesce(json_extract(settings, '$.runtime'), nullif(detected_runtime, 'bun'), 'node') END`

export function serviceFilter({ workspaceId, scope }: Viewer, query: ServiceQuery, beforeId: string | undefined): SqlFilter {
  const conditions: Condition[] = [
    { sql: 'workspace_id = $workspaceId', values: { workspaceId } },
    scopeFilter(scope, { id: 'id', environmentId: 'environment_id' }),
    isOneOf('name', query.name),
    isOneOf('type', query.type),
    isOneOf(shownRuntime, query.env, 'env'),
    isOneOf(`coalesce(json_extract(labels, '$.region'), '${defaultLabels.region}')`, query.region, 'region'),
    suspension(query.suspended),
    isOneOf('environment_id', query.environmentId),
    inProject(query.projectId),
    query.includePreviews === false ? { sql: 'preview_of IS NULL', values: {} } : undefined,
    time('created_at', '<', query.createdBefore, 'createdBefore'),
    time('created_at', '>', query.createdAfter, 'createdAfter'),
    time('updated_at', '<', query.updatedBefore, 'updatedBefore'),
    time('updated_at', '>', query.updatedAfter, 'updatedAfter'),
    beforeId === undefined ? undefined : { sql: 'id < $beforeId', values: { beforeId } },
  ]
  const present = conditions.filter((condition) => condition !== undefined)
  return { where: present.map(({ sql }) => sql).join(' AND '), values: Object.assign({}, ...present.map(({ values }) => values)) }
}

function isOneOf(column: string, wanted: readonly string[] | undefined, name = column): Condition {
  if (wanted === undefined) return undefined
  return { sql: `${column} IN (SELECT value FROM json_each($${name}))`, values: { [name]: JSON.stringify(wanted) } }
}

function inProject(wanted: readonly string[] | undefined): Condition {
  if (wanted === undefined) return undefined
  const sql = 'environment_id IN (SELECT id FROM environments WHERE project_id IN (SELECT value FROM json_each($projectId)))'
  return { sql, values: { projectId: JSON.stringify(wanted) } }
}

function suspension(wanted: readonly string[] | undefined): Condition {
  if (wanted === undefined || new Set(wanted).size === 2) return undefined
  return { sql: `suspended_at IS ${wanted[0] === 'suspended' ? 'NOT ' : ''}NULL`, values: {} }
}

function time(column: string, comparison: '<' | '>', wanted: string | undefined, name: string): Condition {
  return wanted === undefined ? undefined : { sql: `${column} ${comparison} $${name}`, values: { [name]: Date.parse(wanted) } }
}
