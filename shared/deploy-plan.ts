import { type Static, Type } from '@sinclair/typebox'
import { OneOf } from './schema.ts'
import { BuildCommand, RelativePath, runtimes, StartCommand } from './service-details.ts'
import { serviceTypes } from './service-type.ts'

export const DeployPlanQuery = Type.Object({
  serviceId: Type.Optional(Type.String({ description: 'The service whose settings count; absent for one that is not there yet' })),
  type: Type.Optional(OneOf(serviceTypes, 'Type of a service that is not there yet; `web_service` where absent')),
  rootDir: Type.Optional(RelativePath),
  runtime: Type.Optional(OneOf(runtimes)),
  buildCommand: Type.Optional(BuildCommand),
  startCommand: Type.Optional(StartCommand),
  publishPath: Type.Optional(RelativePath),
})
export type DeployPlanQuery = Static<typeof DeployPlanQuery>

const PlannedStep = Type.Object({
  name: Type.String({ examples: ['install'] }),
  command: Type.String({ examples: ['npm ci'] }),
  dir: Type.Optional(Type.String({ description: 'The folder below `rootDir` that it runs in' })),
})

export const DeployPlan = Type.Object({
  type: OneOf(serviceTypes),
  runtime: Type.String({ examples: ['node'], description: '`shell` for what is started by a command alone, `static` for files' }),
  packageManager: Type.Optional(Type.String({ examples: ['npm'] })),
  rootDir: Type.String({ description: 'The folder of the source that is built; empty for all of it' }),
  appDir: Type.Optional(Type.String({ description: 'The folder of the app below that, where it is a member of a workspace' })),
  steps: Type.Array(PlannedStep, { description: 'What is run to build it, in this order' }),
  preDeployCommand: Type.Optional(Type.String({ description: 'Run before the new release starts' })),
  startCommand: Type.Optional(Type.String()),
  publishPaths: Type.Array(Type.String(), { description: 'The first of these folders that the build leaves is published' }),
  notes: Type.Array(Type.String(), { description: 'Why it is done so, and what may go wrong' }),
})
export type DeployPlan = Static<typeof DeployPlan>
