import type { Database } from 'bun:sqlite'
import { AppError } from '../../../shared/error.ts'
import { type EventType, eventTypes, type WorkspaceEventQuery } from '../../../shared/event.ts'
import type { Viewer } from '../../identity/scopes/protection.ts'
import type { EventSelection } from '../events/list.ts'
import { requireService } from '../services/require.ts'
import { serviceIdsOf } from '../services/store.ts'

type Wanted = Pick<WorkspaceEventQuery, 'type' | 'serviceId' | 'projectId' | 'environmentId'>

/** What a caller may see of what is asked for. @throws AppError `not_found` for a service, project or environment that is not the caller's. */
export function selectionFor(db: Database, viewer: Viewer, wanted: Wanted): EventSelection {
  const types: readonly EventType[] | undefined = wanted.type && unique(wanted.type)
  const environmentIds = environmentsOf(db, viewer.workspaceId, wanted)
  const ofServices = (values: readonly string[]): EventSelection => ({ by: 'service_id', values, types, environmentIds })
  if (wanted.serviceId !== undefined) {
    for (const id of wanted.serviceId) requireKnown(db, viewer, id)
    return ofServices(unique(wanted.serviceId))
  }
  if (viewer.scope !== undefined) return ofServices(serviceIdsOf(db, viewer))
  if (environmentIds !== undefined) return { by: 'environment_id', values: environmentIds, types: types ?? eventTypes }
  return { by: 'workspace_id', values: [viewer.workspaceId], types }
}

/** Services that were deleted have their events still, for those who see the whole workspace. */
function requireKnown(db: Database, viewer: Viewer, serviceId: string): void {
  if (viewer.scope === undefined && hasEvents(db, viewer.workspaceId, serviceId)) return
  requireService({ db }, viewer, serviceId)
}

const hasEvents = (db: Database, workspaceId: string, serviceId: string): boolean =>
  db.query('SELECT 1 FROM events WHERE service_id = ? AND workspace_id = ? LIMIT 1').get(serviceId, workspaceId) !== null

function environmentsOf(db: Database, workspaceId: string, { projectId, environmentId }: Wanted): string[] | undefined {
  if (projectId === undefined && environmentId === undefined) return undefined
  requireAll(db, workspaceId, { table: 'projects', kind: 'project', ids: projectId ?? [] })
  requireAll(db, workspaceId, { table: 'environments', kind: 'environment', ids: environmentId ?? [] })
  const ofProjects = projectId && 'project_id IN (SELECT value FROM json_each($projects))'
  const named = environmentId && 'id IN (SELECT value FROM json_each($environments))'
  const where = ['workspace_id = $workspaceId', ofProjects, named].filter((one) => one !== undefined).join(' AND ')
  return db
    .query<{ id: string }, [Record<string, string>]>(`SELECT id FROM environments WHERE ${where}`)
    .all({
      workspaceId,
      ...(projectId && { projects: JSON.stringify(projectId) }),
      ...(environmentId && { environments: JSON.stringify(environmentId) }),
    })
    .map(({ id }) => id)
}

interface Named {
  table: 'projects' | 'environments'
  kind: string
  ids: readonly string[]
}

function requireAll(db: Database, workspaceId: string, { table, kind, ids }: Named): void {
  for (const id of ids) {
    if (db.query(`SELECT 1 FROM ${table} WHERE id = ? AND workspace_id = ?`).get(id, workspaceId) !== null) continue
    throw new AppError('not_found', `There is no ${kind} ${id} in this workspace.`)
  }
}

const unique = <T>(values: readonly T[]): T[] => [...new Set(values)]
