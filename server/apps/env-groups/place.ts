import { AppError, invalidValue } from '../../../shared/error.ts'
import type { Actor } from '../../http/handlers/call.ts'
import type { AppContext } from '../context.ts'
import { notThere, placeOfNew } from '../projects/place-of-new.ts'
import { requireProject } from '../projects/require.ts'
import { findEnvironment, findProject } from '../projects/store.ts'
import type { StoredService } from '../services/store.ts'
import { fits } from './rules.ts'
import type { StoredGroup } from './store/group-store.ts'

type Place = Pick<StoredGroup, 'environmentId' | 'projectId'>

export function placeOfGroup(context: AppContext, actor: Actor, wanted: { environmentId?: string; projectId?: string }): Place {
  if (wanted.environmentId && wanted.projectId)
    throw invalidValue('/projectId', 'A group is of an environment or of a project. Give one of the two.')
  if (!wanted.projectId)
    return { environmentId: placeOfNew(context, actor, { wanted: wanted.environmentId, things: 'groups' }), projectId: null }
  const projectId = requireProject(context, actor, wanted.projectId).id
  if (actor.scope === undefined || actor.scope.projectIds.has(projectId)) return { environmentId: null, projectId }
  throw notThere(actor, 'groups')
}

export function refuseMisfit({ db }: Pick<AppContext, 'db'>, group: StoredGroup, service: StoredService): void {
  const { environmentId, workspaceId } = service
  const projectId = environmentId === null ? null : (findEnvironment(db, workspaceId, environmentId)?.projectId ?? null)
  if (fits(group, { environmentId, projectId })) return
  const of =
    group.environmentId === null
      ? `the project ${findProject(db, workspaceId, group.projectId ?? '')?.name}`
      : `the environment ${findEnvironment(db, workspaceId, group.environmentId)?.name}`
  throw new AppError('conflict', `The env group ${group.name} is of ${of}, in which ${service.name} is not. Move the service there first.`)
}
