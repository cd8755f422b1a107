import { type Static, Type } from '@sinclair/typebox'
import { EnvVar, EnvVarsBody, SecretFile, SecretFilesBody } from './env.ts'
import { Id } from './id.ts'
import { commonFilters } from './project.ts'
import { Many, OneOf, StrictObject, Time, visibleChar } from './schema.ts'
import { shortTypes } from './service-type.ts'

/** The most groups a workspace can have, and the most that a service can be linked to. */
export const maxEnvGroups = 500
export const maxLinkedGroups = 50

/** A group is shown whole, and a page has a hundred: so much may its variables have together, names included, and so much its files. */
export const maxGroupChars = 262_144
export const maxGroupFileChars = 4_194_304

const Name = Type.String({
  minLength: 1,
  maxLength: 63,
  pattern: `^(?! )${visibleChar}*(?<! )$`,
  description: 'Unique in the workspace',
  examples: ['database'],
})

const PlaceId = Type.Optional(Type.String({ maxLength: 64 }))

export const EnvGroupCreate = StrictObject(
  {
    name: Name,
    ownerId: Type.Optional(Type.String({ maxLength: 64 })),
    environmentId: { ...PlaceId, description: 'Only services in this environment can be linked to it' },
    projectId: { ...PlaceId, description: 'Only services in environments of this project can be linked to it' },
    envVars: Type.Optional(EnvVarsBody),
    secretFiles: Type.Optional(SecretFilesBody),
    serviceIds: Type.Optional(
      Type.Array(Type.String({ maxLength: 64 }), { maxItems: 100, description: 'Services that it is linked to at once' }),
    ),
  },
  { examples: [{ name: 'database', envVars: [{ key: 'DATABASE_URL', value: 'postgres://…' }] }] },
)
export type EnvGroupCreate = Static<typeof EnvGroupCreate>

export const EnvGroupPatch = StrictObject({ name: Type.Optional(Name) }, { examples: [{ name: 'databases' }] })

export const GroupFileInput = StrictObject(
  { content: Type.String({ maxLength: 524_288, 'x-secret': true }) },
  { examples: [{ content: '…' }] },
)

/** What a change of a group means for one service that is linked to it. */
export const TouchedService = Type.Object({
  id: Id('service'),
  name: Type.String(),
  envVars: Type.Array(Type.String(), { description: 'Names of the variables that it gets otherwise than before' }),
  secretFiles: Type.Array(Type.String(), { description: 'Names of such secret files' }),
  deployId: Type.Optional(Id('deploy')),
  skipped: Type.Optional(Type.String({ description: 'Why it was not deployed, though that was asked for' })),
  problem: Type.Optional(Type.String({ description: 'A variable that now comes to nothing, so that the service cannot be deployed' })),
})
export type TouchedService = Static<typeof TouchedService>

export const EnvGroup = Type.Object(
  {
    id: Id('envGroup'),
    name: Type.String(),
    ownerId: Id('workspace'),
    environmentId: Type.Optional(Id('environment')),
    projectId: Type.Optional(Id('project')),
    createdAt: Time,
    updatedAt: Time,
    serviceLinks: Type.Array(Type.Object({ id: Id('service'), name: Type.String(), type: OneOf(shortTypes) })),
    envVars: Type.Array(EnvVar),
    secretFiles: Type.Array(SecretFile, { description: 'In lists without their contents' }),
    touched: Type.Optional(
      Type.Array(TouchedService, { description: 'After a change: the services that it makes a difference for, from their next deploy on' }),
    ),
  },
  { $id: 'EnvGroup' },
)
export type EnvGroup = Static<typeof EnvGroup>

export const EnvGroupQuery = Type.Object({
  ...commonFilters,
  environmentId: Many(Type.String({ maxLength: 64, description: 'Only groups of these environments' })),
  projectId: Many(Type.String({ maxLength: 64, description: 'Only groups of these projects, and of their environments' })),
})
export type EnvGroupQuery = Static<typeof EnvGroupQuery>

const deploy = Type.Optional(
  Type.Boolean({ description: 'Whether to deploy the services that the change makes a difference for, and no others' }),
)
export const GroupChangeQuery = Type.Object({ deploy })
export const GroupDeleteQuery = Type.Object({
  deploy,
  force: Type.Optional(Type.Boolean({ description: 'Take the group from the services that are linked to it', default: false })),
})
