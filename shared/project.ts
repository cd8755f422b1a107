import { type Static, Type } from '@sinclair/typebox'
import { Id } from './id.ts'
import { Many, OneOf, PageQuery, StrictObject, Time, TimeInput, Unsupported, visibleChar } from './schema.ts'
import { Owner } from './workspace.ts'

export const protectedStatuses = ['unprotected', 'protected'] as const
export type ProtectedStatus = (typeof protectedStatuses)[number]

/** The most projects a workspace can have, and the most environments a project can. */
export const maxProjects = 1000
export const maxEnvironments = 100
/** The most resources that one request moves. */
export const maxMoved = 100

/** A slash stands between a project and its environment where both are named, so that neither name has one. */
const named = (within: string, example: string) =>
  Type.String({
    minLength: 1,
    maxLength: 63,
    pattern: `^(?! )${visibleChar.replace('[^', '[^/')}*(?<! )$`,
    description: `Unique in the ${within}, without a slash`,
    examples: [example],
  })

export const ProjectName = named('workspace', 'shop')
export const EnvironmentName = named('project', 'production')

const environmentSettings = {
  protectedStatus: Type.Optional(
    OneOf(protectedStatuses, 'What destroys or reveals in a protected one needs environments.manage_protected as well'),
  ),
  networkIsolationEnabled: Type.Optional(
    Type.Boolean({ description: 'Whether private names and addresses of what is in it are reached from inside it only', default: false }),
  ),
  ipAllowList: Unsupported(),
}

const NewEnvironment = StrictObject({ name: EnvironmentName, ...environmentSettings })
export type NewEnvironment = Static<typeof NewEnvironment>

export const ProjectCreate = StrictObject(
  {
    name: ProjectName,
    ownerId: Type.Optional(Type.String({ maxLength: 64 })),
    environments: Type.Optional(Type.Array(NewEnvironment, { maxItems: maxEnvironments, description: 'Those that it begins with' })),
  },
  { examples: [{ name: 'shop', environments: [{ name: 'production', protectedStatus: 'protected' }, { name: 'staging' }] }] },
)
export type ProjectCreate = Static<typeof ProjectCreate>

export const ProjectPatch = StrictObject({ name: Type.Optional(ProjectName) }, { examples: [{ name: 'store' }] })
export type ProjectPatch = Static<typeof ProjectPatch>

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
export type Project = Static<typeof Project>

export const EnvironmentCreate = StrictObject(
  { name: EnvironmentName, projectId: Type.String({ maxLength: 64 }), ...environmentSettings },
  { examples: [{ name: 'staging', projectId: 'prj-0b1c2d3e4f5g6h7i8j9k' }] },
)
export type EnvironmentCreate = Static<typeof EnvironmentCreate>

export const EnvironmentPatch = StrictObject(
  { name: Type.Optional(EnvironmentName), ...environmentSettings },
  { examples: [{ protectedStatus: 'protected' }] },
)
export type EnvironmentPatch = Static<typeof EnvironmentPatch>

export const Environment = Type.Object(
  {
    id: Id('environment'),
    name: Type.String(),
    projectId: Id('project'),
    databasesIds: Type.Array(Type.String()),
    redisIds: Type.Array(Type.String()),
    serviceIds: Type.Array(Id('service')),
    envGroupIds: Type.Array(Id('envGroup')),
    protectedStatus: OneOf(protectedStatuses),
    networkIsolationEnabled: Type.Boolean(),
    createdAt: Time,
    updatedAt: Time,
  },
  { $id: 'Environment' },
)
export type Environment = Static<typeof Environment>

/** Whether to go on although services would no longer reach what they use. */
export const ForceQuery = Type.Object({
  force: Type.Optional(
    Type.Boolean({ description: 'Go on although services would no longer reach those that they name in variables', default: false }),
  ),
})

export const EnvironmentResources = StrictObject(
  {
    resourceIds: Type.Array(Type.String({ maxLength: 64 }), {
      minItems: 1,
      maxItems: maxMoved,
      description: 'Ids of services, env groups, databases and key-value stores',
    }),
  },
  { examples: [{ resourceIds: ['srv-0b1c2d3e4f5g6h7i8j9k'] }] },
)

export const RemovedResources = Type.Object({
  ...ForceQuery.properties,
  resourceIds: Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
    minItems: 1,
    maxItems: maxMoved,
    description: 'Ids of services, env groups, databases and key-value stores',
  }),
})

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

/** What a list of things that can be in an environment is narrowed by. */
export const placeFilters = {
  environmentId: Many(Type.String({ maxLength: 64, description: 'Only what is in one of these environments' })),
  projectId: Many(Type.String({ maxLength: 64, description: 'Only what is in an environment of one of these projects' })),
}

export const ProjectQuery = Type.Object(commonFilters)
export type ProjectQuery = Static<typeof ProjectQuery>

export const EnvironmentQuery = Type.Object({
  ...commonFilters,
  projectId: Many(Type.String({ maxLength: 64, description: 'Only environments of these projects' })),
})
export type EnvironmentQuery = Static<typeof EnvironmentQuery>
