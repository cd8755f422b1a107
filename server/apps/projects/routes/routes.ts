import type { Operations } from '../../../../shared/operations/all.ts'
import { idPageOf, pageOf } from '../../../http/answers/page.ts'
import type { Handlers } from '../../../http/handlers/call.ts'
import type { AppContext } from '../../context.ts'
import { listEnvironments, listProjects } from '../list.ts'
import { requireEnvironment, requireProject } from '../require.ts'
import { seenPlaces } from '../visible.ts'
import { changeProject, createEnvironment, createProject, deleteEnvironment, deleteProject } from './operations.ts'
import { presentEnvironment, presentProject } from './present.ts'

type ProjectIds = Extract<
  keyof Operations,
  | 'listProjects'
  | 'createProject'
  | 'getProject'
  | 'updateProject'
  | 'deleteProject'
  | 'listEnvironments'
  | 'createEnvironment'
  | 'getEnvironment'
  | 'deleteEnvironment'
>

export const projectRoutes: Handlers<ProjectIds, AppContext> = {
  listProjects({ actor, query }, { db }) {
    const seen = seenPlaces(db, actor)?.projectIds
    const page = listProjects(db, { ...query, ...idPageOf(query), workspaceId: actor.workspaceId, seen })
    return pageOf(
      'project',
      page.map((project) => presentProject(db, actor, project)),
      ({ id }) => [id],
    )
  },
  createProject: ({ actor, body }, context) => presentProject(context.db, actor, createProject(context, actor, body)),
  getProject: ({ actor, params }, context) => presentProject(context.db, actor, requireProject(context, actor, params.projectId)),
  updateProject: ({ actor, params, body }, context) =>
    presentProject(context.db, actor, changeProject(context, actor, { id: params.projectId, patch: body })),
  deleteProject({ actor, params }, context) {
    deleteProject(context, actor, params.projectId)
  },
  listEnvironments({ actor, query }, { db }) {
    const seen = seenPlaces(db, actor)?.environmentIds
    const page = listEnvironments(db, { ...query, ...idPageOf(query), workspaceId: actor.workspaceId, seen })
    return pageOf(
      'environment',
      page.map((environment) => presentEnvironment(db, actor, environment)),
      ({ id }) => [id],
    )
  },
  createEnvironment: ({ actor, body }, context) => presentEnvironment(context.db, actor, createEnvironment(context, actor, body)),
  getEnvironment: ({ actor, params }, context) =>
    presentEnvironment(context.db, actor, requireEnvironment(context, actor, params.environmentId)),
  deleteEnvironment({ actor, params }, context) {
    deleteEnvironment(context, actor, requireEnvironment(context, actor, params.environmentId))
  },
}
