import { AppError, invalidValue } from '../../../shared/error.ts'
import type { Actor } from '../../http/handlers/call.ts'
import { isEnvironmentWithin } from '../../identity/scopes/scope.ts'
import type { AppContext } from '../context.ts'
import { requireEnvironment, requireProject } from '../projects/require.ts'
import { findEnvironment, findProject } from '../projects/store.ts'
import type { StoredService } from '../services/store.ts'
import { fits } from './rules.ts'
import type { StoredGroup } from './store/group-store.ts'

type Place = Pick<StoredGroup, 'environmentId' | 'projectId'>

export function placeOfNew(context: AppContext, actor: Actor, wanted: { environmentId?: string; projectId?: string }): Place {
  if (wanted.environmentId && wanted.projectId)
    throw invalidValue('/projectId', 'A group is of an environment or of a project. Give one of the two.')
  const { scope } = actor
  if (wanted.projectId) {
    const projectId = requireProject(context, actor, wanted.projectId).id
    if (scope === undefined || scope.projectIds.has(projectId)) return { environmentId: null, projectId }
  } else {
    const only = scope?.reach.size === 1 ? [...scope.reach][0] : undefined
    const environmentId = wanted.environmentId ? requireEnvironment(context, actor, wanted.environmentId).id : (only ?? null)
    if (isEnvironmentWithin(scope, environmentId)) return { environmentId, projectId: null }
  }
  const places = [...(scope?.reach ?? [])].join(', ')
  throw new AppError('forbidden', `You are confined, and may make groups in your environments only. Say which by environmentId: ${places}.`)
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
