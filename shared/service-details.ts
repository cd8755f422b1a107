import { type Static, type TObject, type TSchema, Type } from '@sinclair/typebox'
import { withOption } from './cli-option.ts'
import { overlapPolicies, ScheduleInput, TimezoneInput } from './cron.ts'
import { rolloutStrategies } from './deploy.ts'
import { DiskInput, ServiceDisk } from './disk.ts'
import { HeaderRule, HeaderRulesInput, PathRule, PathRulesInput } from './edge-rule.ts'
import { Id } from './id.ts'
import { buildPlanNames, planNames } from './plan.ts'
import { PreviewRule, PreviewsInput } from './preview.ts'
import { OneOf, StrictObject, Time, Unsupported } from './schema.ts'
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
import { RegionInput } from './service-labels.ts'
import { type ServiceType, serviceTypes } from './service-type.ts'

/** The runtimes the process engine can build and run. */
export const runtimes = ['node', 'bun', 'python', 'go', 'rust'] as const
export type Runtime = (typeof runtimes)[number]

export const maxInstances = 100
export const defaultShutdownDelaySeconds = 30

const optional = <T extends TSchema>(schema: T) => Type.Optional(schema)

const Command = Type.String({ maxLength: 4096, pattern: '^[^\\u0000]*$' })
export const RelativePath = Type.String({
  maxLength: 512,
  pattern: '^(?!/)(?!.*(?:^|/)\\.\\.(?:/|$))[^\\u0000-\\u001f\\\\]*$',
  description: 'Path below the root of the source',
  examples: ['apps/web'],
})
const UrlPath = Type.String({ maxLength: 1024, pattern: '^/[!-~]*$', examples: ['/health'] })

export const BuildCommand = withOption({ name: 'build-command', value: 'command', help: 'Command that builds it' }, Command)
export const StartCommand = withOption({ name: 'start-command', value: 'command', help: 'Command that starts it' }, Command)

const EnvSpecificDetails = StrictObject({
  buildCommand: optional(BuildCommand),
  startCommand: optional(StartCommand),
  preDeployCommand: optional(
    withOption({ name: 'pre-deploy-command', value: 'command', help: 'Command to run before a new release starts' }, Command),
  ),
  dockerCommand: Unsupported(),
  dockerContext: Unsupported('.'),
  dockerfilePath: Unsupported('./Dockerfile'),
})

const fields = {
  env: optional(OneOf(runtimes)),
  runtime: optional(withOption({ name: 'runtime', value: 'runtime', help: 'What builds and runs it' }, OneOf(runtimes))),
  plan: optional(withOption({ name: 'plan', value: 'plan', help: 'What an instance may use' }, OneOf(planNames))),
  buildPlan: optional(withOption({ name: 'build-plan', value: 'plan', help: 'What a build may use' }, OneOf(buildPlanNames))),
  region: optional(RegionInput),
  numInstances: optional(
    withOption(
      { name: 'instances', value: 'count', help: 'How many instances run', isAtOnce: true },
      Type.Integer({ minimum: 1, maximum: maxInstances, examples: [1] }),
    ),
  ),
  envSpecificDetails: optional(EnvSpecificDetails),
  preDeployCommand: optional(Command),
  buildCommand: optional(BuildCommand),
  healthCheckPath: optional(
    withOption(
      { name: 'health-check-path', value: 'path', help: 'Path that answers 2xx or 3xx when an instance is healthy' },
      Type.Union([UrlPath, Type.Literal('')]),
    ),
  ),
  publishPath: optional(withOption({ name: 'publish-path', value: 'path', help: 'Folder of a static site that is served' }, RelativePath)),
  maxShutdownDelaySeconds: optional(
    withOption(
      { name: 'shutdown-delay', value: 'seconds', help: 'Time an instance has to end' },
      Type.Integer({ minimum: 1, maximum: 300 }),
    ),
  ),
  allowUserNamespaces: optional(
    withOption(
      {
        name: 'allow-user-namespaces',
        help: 'Let its processes make user namespaces, where the operator permits it: for Chromium and its sandbox',
        helpOfNo: 'Refuse that; the default',
      },
      Type.Boolean({
        description: 'Its processes may make user namespaces, as the sandbox of Chromium does; the operator has to permit it',
      }),
    ),
  ),
  headers: optional(HeaderRulesInput),
  routes: optional(PathRulesInput),
  ipAllowList: optional(IpAllowListInput),
  maintenanceMode: optional(MaintenanceModeInput),
  cutoverGuard: optional(CutoverGuardInput),
  schedule: optional(ScheduleInput),
  timezone: optional(TimezoneInput),
  overlapPolicy: optional(
    withOption(
      { name: 'overlap', value: 'policy', help: 'What happens to a run while another is under way', isAtOnce: true },
      OneOf(overlapPolicies),
    ),
  ),
  sleep: optional(SleepInput),
  disk: optional(
    Type.Union([DiskInput, Type.Null()], { description: 'At creation alone; see POST /v1/disks for a service that is there' }),
  ),
  autoscaling: Unsupported(),
  previews: optional(PreviewsInput),
  pullRequestPreviewsEnabled: Unsupported('no'),
  parentServer: Unsupported(),
  renderSubdomainPolicy: Unsupported('enabled'),
}

const everywhere = ['buildPlan', 'region', 'autoscaling', 'pullRequestPreviewsEnabled', 'parentServer', 'renderSubdomainPolicy'] as const
const running = [
  ...everywhere,
  'env',
  'runtime',
  'plan',
  'envSpecificDetails',
  'preDeployCommand',
  'maxShutdownDelaySeconds',
  'allowUserNamespaces',
] as const
const standing = [...running, 'numInstances', 'disk'] as const
const atTheEdge = ['previews', 'headers', 'routes', 'ipAllowList', 'maintenanceMode'] as const

const fieldsOfType = {
  web_service: [...standing, ...atTheEdge, 'healthCheckPath', 'cutoverGuard', 'sleep'],
  private_service: standing,
  background_worker: standing,
  cron_job: [...running, 'schedule', 'timezone', 'overlapPolicy'],
  static_site: [...everywhere, ...atTheEdge, 'buildCommand', 'publishPath'],
} as const satisfies Record<ServiceType, readonly (keyof typeof fields)[]>

type InputOf<T extends ServiceType> = Static<TObject<Pick<typeof fields, (typeof fieldsOfType)[T][number]>>>

export type ServiceDetailsInput = { [T in ServiceType]: InputOf<T> }[ServiceType]

export type AnyDetailsInput = Static<TObject<typeof fields>>

/** The details that a body holds, to be read without asking first which type they are of. */
export const detailsIn = ({ serviceDetails = {} }: { serviceDetails?: ServiceDetailsInput }): AnyDetailsInput => serviceDetails

/** Whether services of any type have a field. */
export const isDetail = (key: string): boolean => Object.hasOwn(fields, key)

/** Whether services of a type have a field. */
export const hasDetail = (type: ServiceType, key: string): boolean => (fieldsOfType[type] as readonly string[]).includes(key)

const inPascalCase = (name: string): string => name.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase())

/**
 * The schema takes the fields of all types: a patch does not name the type, and clients send fields of other types with values that
 * change nothing. Which of them a service has is asked by `hasDetail`; the OpenAPI document shows each type by itself.
 */
export const ServiceDetailsInput = {
  ...StrictObject(fields),
  'x-variants': Object.fromEntries(serviceTypes.map((type) => [`${inPascalCase(type)}DetailsInput`, fieldsOfType[type]])),
} as TSchema & { static: ServiceDetailsInput }

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
  previews: optional(PreviewRule),
  parentServer: optional(
    Type.Object({ id: Id('service'), name: Type.String() }, { description: 'Of a preview: the service that it is one of' }),
  ),
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
