import { Type } from '@sinclair/typebox'
import { Id } from './id.ts'
import { Many, OneOf, PageQuery, Time, TimeInput } from './schema.ts'
import { Owner } from './workspace.ts'

export const Project = Type.Object(
  {
    id: Id('project'),
    name: Type.String(),
    owner: Owner,
    environmentIds: Type.Array(Id('environment')),
    createdAt: Time,
    updatedAt: Time,
  },
  { $id: 'Project' },
)

export const Environment = Type.Object(
  {
    id: Id('environment'),
    name: Type.String(),
    projectId: Id('project'),
    databasesIds: Type.Array(Type.String()),
    redisIds: Type.Array(Type.String()),
    serviceIds: Type.Array(Id('service')),
    envGroupIds: Type.Array(Type.String()),
    protectedStatus: OneOf(['unprotected', 'protected']),
    networkIsolationEnabled: Type.Boolean(),
  },
  { $id: 'Environment' },
)

/** What every list of things of a workspace can be narrowed by. */
export const commonFilters = {
  ...PageQuery,
  name: Many(Type.String({ maxLength: 200 })),
  ownerId: Many(Type.String({ maxLength: 64 })),
  createdBefore: Type.Optional(TimeInput),
  createdAfter: Type.Optional(TimeInput),
  updatedBefore: Type.Optional(TimeInput),
  updatedAfter: Type.Optional(TimeInput),
}

export const ProjectQuery = Type.Object(commonFilters)
export const EnvironmentQuery = Type.Object({
  ...commonFilters,
  projectId: Many(Type.String({ maxLength: 64, description: 'There is no project yet, so none is found' })),
})
