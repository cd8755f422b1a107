import type { Database } from 'bun:sqlite'
import { type EventType, eventTypes, isOfDatastore, type WorkspaceEventQuery } from '../../../shared/event.ts'
import type { Actor } from '../../http/handlers/call.ts'
import type { Viewer } from '../../identity/scopes/protection.ts'
import type { EventSelection } from '../events/list.ts'
import { ownerIdsOf, requireOwner } from '../owners/owners.ts'
import { requireEnvironment, requireProject } from '../projects/require.ts'
import { environmentsOf } from '../projects/store.ts'

export type EventViewer = Viewer & Pick<Actor, 'permissions'>

type Wanted = Pick<WorkspaceEventQuery, 'type' | 'serviceId' | 'projectId' | 'environmentId'>

/** What a caller may see of what is asked for. @throws AppError `not_found` for a service, project or environment that is not the caller's. */
export function selectionFor(db: Database, viewer: EventViewer, wanted: Wanted): EventSelection {
  const types = typesShown(viewer, wanted.type)
  const environmentIds = environmentsWanted(db, viewer, wanted)
  const ofServices = (values: readonly string[]): EventSelection => ({ by: 'service_id', values, types, environmentIds })
  if (wanted.serviceId !== undefined) {
    for (const id of wanted.serviceId) requireKnown(db, viewer, id)
    return ofServices(unique(wanted.serviceId))
  }
  if (viewer.scope !== undefined) return ofServices(ownerIdsOf(db, viewer))
  if (environmentIds !== undefined) return { by: 'environment_id', values: environmentIds, types: types ?? eventTypes }
  return { by: 'workspace_id', values: [viewer.workspaceId], types }
}

function typesShown({ permissions }: EventViewer, wanted: readonly EventType[] | undefined): readonly EventType[] | undefined {
  if (permissions.has('datastores.read')) return wanted && unique(wanted)
  return unique(wanted ?? eventTypes).filter((type) => !isOfDatastore(type))
}

/** Owners that were deleted have their events still, for those who see the whole workspace. */
function requireKnown(db: Database, viewer: EventViewer, id: string): void {
  if (viewer.scope === undefined && hasEvents(db, viewer.workspaceId, id)) return
  requireOwner({ db }, viewer, id)
}

const hasEvents = (db: Database, workspaceId: string, serviceId: string): boolean =>
  db.query('SELECT 1 FROM events WHERE service_id = ? AND workspace_id = ? LIMIT 1').get(serviceId, workspaceId) !== null

/** Ids of the environments that are asked for: those named, those of projects named, or where both are, those that are both. */
function environmentsWanted(db: Database, viewer: Viewer, { projectId, environmentId }: Wanted): string[] | undefined {
  const named = environmentId?.map((id) => requireEnvironment({ db }, viewer, id).id)
  const ofProjects = projectId?.flatMap((id) => environmentsOf(db, requireProject({ db }, viewer, id).id).map((one) => one.id))
  const either = named ?? ofProjects
  return either && unique(either).filter((id) => ofProjects?.includes(id) ?? true)
}

const unique = <T>(values: readonly T[]): T[] => [...new Set(values)]
