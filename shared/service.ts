import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { withOption } from './cli-option.ts'
import { deployStatuses } from './deploy.ts'
import { EnvVarInput, maxEnvVars, SecretFileInput } from './env.ts'
import { Id, instanceIdPattern } from './id.ts'
import { placeFilters } from './project.ts'
import { RepositoryState } from './repository-state.ts'
import { Many, OneOf, PageQuery, StrictObject, Time, TimeInput, Unsupported, visibleChar } from './schema.ts'
import { maxInstances, RelativePath, runtimes, ServiceDetails, ServiceDetailsInput } from './service-details.ts'
import { AutoDeployTrigger, BuildFilter, labelInputs } from './service-labels.ts'
import { serviceTypes } from './service-type.ts'

const optional = <T extends TSchema>(schema: T) => Type.Optional(schema)

export const ServiceName = Type.String({
  minLength: 1,
  maxLength: 63,
  pattern: `^(?! )${visibleChar}*(?<! )$`,
  description: 'Unique in the workspace',
  examples: ['web'],
})

const RootDir = withOption({ name: 'root-dir', value: 'path', help: 'Folder of the source in which it is built' }, RelativePath)

const sourceSettings = {
  ...labelInputs,
  image: Unsupported(),
  notifyOnFail: Unsupported('default'),
}

/** An environment that something is to be in; null and an empty text are none. */
const EnvironmentPlace = Type.Union([Type.String({ maxLength: 64 }), Type.Null()], {
  description: 'Id of the environment that it is in; null takes it out',
})

export const ServiceCreate = StrictObject(
  {
    type: OneOf(serviceTypes),
    name: ServiceName,
    ownerId: optional(Type.String({ maxLength: 64 })),
    rootDir: optional(RootDir),
    envVars: optional(Type.Array(EnvVarInput, { maxItems: maxEnvVars })),
    secretFiles: optional(Type.Array(SecretFileInput, { maxItems: 100 })),
    serviceDetails: optional(ServiceDetailsInput),
    environmentId: optional(EnvironmentPlace),
    ...sourceSettings,
  },
  { examples: [{ type: 'web_service', name: 'web', serviceDetails: { runtime: 'node', plan: 'starter', healthCheckPath: '/health' } }] },
)
export type ServiceCreate = Static<typeof ServiceCreate>

export const ServicePatch = StrictObject(
  {
    name: optional(ServiceName),
    rootDir: optional(RootDir),
    serviceDetails: optional(ServiceDetailsInput),
    environmentId: optional(EnvironmentPlace),
    ...sourceSettings,
  },
  { examples: [{ serviceDetails: { numInstances: 2 } }] },
)
export type ServicePatch = Static<typeof ServicePatch>

export const Service = Type.Object(
  {
    id: Id('service'),
    name: Type.String(),
    ownerId: Id('workspace'),
    environmentId: optional(Id('environment')),
    type: OneOf(serviceTypes),
    slug: Type.String({ description: 'First label of its host name' }),
    createdAt: Time,
    updatedAt: Time,
    dashboardUrl: Type.String(),
    suspended: OneOf(['suspended', 'not_suspended']),
    suspenders: Type.Array(Type.String()),
    autoDeploy: OneOf(['yes', 'no']),
    autoDeployTrigger: AutoDeployTrigger,
    repo: optional(Type.String()),
    branch: optional(Type.String()),
    buildFilter: optional(BuildFilter),
    repositoryState: optional(RepositoryState),
    submodules: optional(Type.Boolean({ description: 'Whether commits are deployed with their submodules; absent: no' })),
    notifyOnFail: OneOf(['default', 'notify', 'ignore']),
    rootDir: Type.String(),
    serviceDetails: ServiceDetails,
    latestDeployStatus: optional(
      OneOf([...deployStatuses, 'none'], 'Only while nothing of it has been live yet: how its latest deploy stands'),
    ),
  },
  { $id: 'Service' },
)
export type Service = Static<typeof Service>

export const ServiceCreated = Type.Object({ service: Service, deployId: optional(Id('deploy')) })

export const ServiceQuery = Type.Object({
  ...PageQuery,
  name: Many(Type.String({ maxLength: 200 })),
  type: Many(OneOf(serviceTypes)),
  env: Many(OneOf(runtimes)),
  region: Many(Type.String({ maxLength: 64 })),
  suspended: Many(OneOf(['suspended', 'not_suspended'])),
  ownerId: Many(Type.String({ maxLength: 64 })),
  ...placeFilters,
  includePreviews: optional(Type.Boolean({ description: 'Whether previews of pull requests are among them', default: true })),
  createdBefore: optional(TimeInput),
  createdAfter: optional(TimeInput),
  updatedBefore: optional(TimeInput),
  updatedAfter: optional(TimeInput),
})
export type ServiceQuery = Static<typeof ServiceQuery>

export const DeleteQuery = Type.Object({ mode: optional(OneOf(['delete', 'suspend'])) })

export const ScaleBody = StrictObject({ numInstances: Type.Integer({ minimum: 1, maximum: maxInstances, examples: [2] }) })

const instanceStatuses = ['starting', 'running', 'restarting', 'crash_looping', 'standby', 'asleep', 'draining', 'stopped'] as const

export const Instance = Type.Object({
  id: Type.String({ pattern: instanceIdPattern, examples: ['srv-0b1c2d3e4f5g6h7i8j9k-0a1b2'] }),
  createdAt: Time,
  status: OneOf(
    instanceStatuses,
    'standby: of the release before, kept for the way back while the new one is watched; asleep: frozen until the next request',
  ),
  startedAt: optional(Time),
  restarts: Type.Integer({ description: 'How often it was started again after it died' }),
})
export type Instance = Static<typeof Instance>
