import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { overlapPolicies, ScheduleInput, TimezoneInput } from './cron.ts'
import { deployStatuses, rolloutStrategies } from './deploy.ts'
import { DiskInput, ServiceDisk } from './disk.ts'
import { HeaderRule, HeaderRulesInput, PathRule, PathRulesInput } from './edge-rule.ts'
import { EnvVarInput, maxEnvVars, SecretFileInput } from './env.ts'
import { Id, instanceIdPattern } from './id.ts'
import { buildPlanNames, planNames } from './plan.ts'
import { Many, OneOf, PageQuery, StrictObject, Time, TimeInput, Unsupported, visibleChar } from './schema.ts'
import {
  CutoverGuard,
  CutoverGuardInput,
  IpAllowList,
  IpAllowListInput,
  MaintenanceMode,
  MaintenanceModeInput,
  Sleep,
  SleepInput,
} from './service-controls.ts'
import { AutoDeployTrigger, BuildFilter, labelInputs, RegionInput } from './service-labels.ts'
import { serviceTypes } from './service-type.ts'

/** The runtimes the process engine can build and run. */
export const runtimes = ['node', 'bun', 'python', 'go', 'rust'] as const
export type Runtime = (typeof runtimes)[number]

export const maxInstances = 100
export const defaultShutdownDelaySeconds = 30

const optional = <T extends TSchema>(schema: T) => Type.Optional(schema)

const Command = Type.String({ maxLength: 4096, pattern: '^[^\\u0000]*$' })
const RelativePath = Type.String({
  maxLength: 512,
  pattern: '^(?!/)(?!.*(?:^|/)\\.\\.(?:/|$))[^\\u0000-\\u001f\\\\]*$',
  description: 'Path below the root of the source',
  examples: ['apps/web'],
})
const UrlPath = Type.String({ maxLength: 1024, pattern: '^/[!-~]*$', examples: ['/health'] })

const EnvSpecificDetails = StrictObject({
  buildCommand: optional(Command),
  startCommand: optional(Command),
  preDeployCommand: optional(Command),
  dockerCommand: Unsupported(),
  dockerContext: Unsupported('.'),
  dockerfilePath: Unsupported('./Dockerfile'),
})

/** What may be set of a service's details, at create and patch; which fields fit which type is a rule of the server. */
export const ServiceDetailsInput = StrictObject({
  env: optional(OneOf(runtimes)),
  runtime: optional(OneOf(runtimes)),
  envSpecificDetails: optional(EnvSpecificDetails),
  preDeployCommand: optional(Command),
  plan: optional(OneOf(planNames)),
  buildPlan: optional(OneOf(buildPlanNames)),
  region: optional(RegionInput),
  numInstances: optional(Type.Integer({ minimum: 1, maximum: maxInstances, examples: [1] })),
  healthCheckPath: optional(Type.Union([UrlPath, Type.Literal('')])),
  maxShutdownDelaySeconds: optional(Type.Integer({ minimum: 1, maximum: 300 })),
  allowUserNamespaces: optional(
    Type.Boolean({ description: 'Its processes may make user namespaces, as the sandbox of Chromium does; the operator has to permit it' }),
  ),
  buildCommand: optional(Command),
  publishPath: optional(RelativePath),
  headers: optional(HeaderRulesInput),
  routes: optional(PathRulesInput),
  ipAllowList: optional(IpAllowListInput),
  schedule: optional(ScheduleInput),
  timezone: optional(TimezoneInput),
  overlapPolicy: optional(OneOf(overlapPolicies)),
  maintenanceMode: optional(MaintenanceModeInput),
  cutoverGuard: optional(CutoverGuardInput),
  sleep: optional(SleepInput),
  disk: optional(
    Type.Union([DiskInput, Type.Null()], { description: 'At creation alone; see POST /v1/disks for a service that is there' }),
  ),
  autoscaling: Unsupported(),
  previews: Unsupported({ generation: 'off' }),
  pullRequestPreviewsEnabled: Unsupported('no'),
  parentServer: Unsupported(),
  renderSubdomainPolicy: Unsupported('enabled'),
})
export type ServiceDetailsInput = Static<typeof ServiceDetailsInput>

export const ServiceName = Type.String({
  minLength: 1,
  maxLength: 63,
  pattern: `^(?! )${visibleChar}*(?<! )$`,
  description: 'Unique in the workspace',
  examples: ['web'],
})

const sourceSettings = {
  ...labelInputs,
  image: Unsupported(),
  environmentId: Unsupported(),
  notifyOnFail: Unsupported('default'),
}

export const ServiceCreate = StrictObject(
  {
    type: OneOf(serviceTypes),
    name: ServiceName,
    ownerId: optional(Type.String({ maxLength: 64 })),
    rootDir: optional(RelativePath),
    envVars: optional(Type.Array(EnvVarInput, { maxItems: maxEnvVars })),
    secretFiles: optional(Type.Array(SecretFileInput, { maxItems: 100 })),
    serviceDetails: optional(ServiceDetailsInput),
    ...sourceSettings,
  },
  { examples: [{ type: 'web_service', name: 'web', serviceDetails: { runtime: 'node', plan: 'starter', healthCheckPath: '/health' } }] },
)
export type ServiceCreate = Static<typeof ServiceCreate>

export const ServicePatch = StrictObject(
  {
    name: optional(ServiceName),
    rootDir: optional(RelativePath),
    serviceDetails: optional(ServiceDetailsInput),
    ...sourceSettings,
  },
  { examples: [{ serviceDetails: { numInstances: 2 } }] },
)
export type ServicePatch = Static<typeof ServicePatch>

/** The details as they are sent; each type of service has its own subset. */
export const ServiceDetails = Type.Object({
  env: optional(OneOf(runtimes)),
  runtime: optional(OneOf(runtimes)),
  envSpecificDetails: optional(
    Type.Object({ buildCommand: Type.String(), startCommand: Type.String(), preDeployCommand: optional(Type.String()) }),
  ),
  plan: optional(OneOf(planNames)),
  buildPlan: OneOf(buildPlanNames),
  region: optional(RegionInput),
  numInstances: optional(Type.Integer()),
  healthCheckPath: optional(Type.String()),
  maxShutdownDelaySeconds: optional(Type.Integer()),
  allowUserNamespaces: optional(Type.Boolean()),
  openPorts: optional(Type.Array(Type.Object({ port: Type.Integer(), protocol: Type.Literal('TCP') }))),
  url: optional(Type.String()),
  buildCommand: optional(Type.String()),
  publishPath: optional(Type.String()),
  headers: optional(Type.Array(HeaderRule)),
  routes: optional(Type.Array(PathRule)),
  ipAllowList: optional(IpAllowList),
  schedule: optional(Type.String()),
  timezone: optional(Type.String()),
  overlapPolicy: optional(OneOf(overlapPolicies)),
  lastSuccessfulRunAt: optional(Time),
  nextRunAt: optional(Time),
  maintenanceMode: optional(MaintenanceMode),
  cutoverGuard: optional(CutoverGuard),
  sleep: optional(Sleep),
  asleepAt: optional(Type.String({ ...Time, description: 'Since when it is asleep; absent while it is awake' })),
  disk: optional(ServiceDisk),
  deployStrategy: optional(
    OneOf(rolloutStrategies, 'stop_first: it has a disk, so its instance ends before the next one starts, and it is away meanwhile'),
  ),
})
export type ServiceDetails = Static<typeof ServiceDetails>

export const Service = Type.Object(
  {
    id: Id('service'),
    name: Type.String(),
    ownerId: Id('workspace'),
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
  environmentId: Many(Type.String({ maxLength: 64, description: 'No service is in an environment yet, so none is found' })),
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
