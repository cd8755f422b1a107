import { type Static, Type } from '@sinclair/typebox'
import { Id } from './id.ts'
import { Many, OneOf, PageQuery, StrictObject, Time, TimeInput, Unsupported } from './schema.ts'

/** The statuses a deploy passes through, in order, then those it ends in. */
export const deployStatuses = [
  'created',
  'queued',
  'build_in_progress',
  'pre_deploy_in_progress',
  'update_in_progress',
  'live',
  'deactivated',
  'build_failed',
  'pre_deploy_failed',
  'update_failed',
  'canceled',
] as const
export type DeployStatus = (typeof deployStatuses)[number]

const running: ReadonlySet<DeployStatus> = new Set([
  'created',
  'queued',
  'build_in_progress',
  'pre_deploy_in_progress',
  'update_in_progress',
])

/** Whether the deploy is still on its way: neither live nor ended. */
export const isDeployRunning = (status: DeployStatus): boolean => running.has(status)

/** Page of the server that shows a deploy to whoever may see it. */
export const deployPath = ({ workspaceId, serviceId, deployId }: { workspaceId: string; serviceId: string; deployId: string }): string =>
  `/deploys?${new URLSearchParams({ ownerId: workspaceId, serviceId, deployId })}`

export const deployTriggers = [
  'api',
  'manual',
  'new_commit',
  'rollback',
  'blueprint_sync',
  'service_resumed',
  'service_updated',
  'deploy_hook',
  'other',
] as const
export type DeployTrigger = (typeof deployTriggers)[number]

/** Whether the new release starts beside the old one, or when the old one is gone: a disk is never in two hands. */
export const rolloutStrategies = ['rolling', 'stop_first'] as const
export type RolloutStrategy = (typeof rolloutStrategies)[number]

/** What of a repository is deployed, in its author's words. */
export const Commit = Type.Object({
  id: Type.String({ pattern: '^(?:[0-9a-f]{40}|[0-9a-f]{64})$', examples: ['1f0e3dad99908345f7439f8ffabdffc4f6b2a0d3'] }),
  message: Type.String(),
  createdAt: Type.Optional(Time),
  author: Type.Optional(Type.String()),
})
export type Commit = Static<typeof Commit>

export const Deploy = Type.Object(
  {
    id: Id('deploy'),
    status: OneOf(deployStatuses),
    trigger: OneOf(deployTriggers),
    createdAt: Time,
    updatedAt: Time,
    startedAt: Type.Optional(Time),
    finishedAt: Type.Optional(Time),
    source: Type.Optional(Type.Object({ id: Id('source'), sha256: Type.String() })),
    commit: Type.Optional(Commit),
    ref: Type.Optional(Type.String({ description: 'Branch, tag or commit that was asked for' })),
    reason: Type.Optional(Type.String({ description: 'Why it failed or was canceled, and what to do next' })),
    rollbackOf: Type.Optional(Id('deploy')),
    rollout: Type.Object(
      {
        strategy: OneOf(rolloutStrategies),
        gapMs: Type.Optional(Type.Integer({ description: 'How long no release was in the routes, in milliseconds' })),
      },
      { description: 'How it takes the place of the release before' },
    ),
    guardedUntil: Type.Optional(
      Type.String({
        ...Time,
        description: 'While it is watched: until then it is taken back by itself if it does far worse than the one before',
      }),
    ),
  },
  { $id: 'Deploy' },
)
export type Deploy = Static<typeof Deploy>

export const DeployQuery = Type.Object({
  ...PageQuery,
  status: Many(OneOf(deployStatuses)),
  createdBefore: Type.Optional(TimeInput),
  createdAfter: Type.Optional(TimeInput),
  finishedBefore: Type.Optional(TimeInput),
  finishedAfter: Type.Optional(TimeInput),
})
export type DeployQuery = Static<typeof DeployQuery>

export const DeployCreate = StrictObject(
  {
    clearCache: Type.Optional(OneOf(['clear', 'do_not_clear'])),
    deployMode: Type.Optional(
      OneOf(['build_and_deploy', 'deploy_only'], 'deploy_only starts the live build again with the present settings, without building'),
    ),
    sourceId: Type.Optional(Type.String({ ...Id('source'), description: 'Of this service, or of another one in the workspace' })),
    commitId: Type.Optional(Type.String({ maxLength: 64, description: 'Of the repository of the service' })),
    ref: Type.Optional(
      Type.String({ maxLength: 255, description: 'Branch, tag or commit of the repository of the service', examples: ['v1.2.0'] }),
    ),
    imageUrl: Unsupported(),
  },
  { examples: [{ clearCache: 'do_not_clear' }] },
)
export type DeployCreate = Static<typeof DeployCreate>

export const RollbackBody = StrictObject(
  { deployId: Type.Optional(Id('deploy')), dryRun: Type.Optional(Type.Boolean()) },
  { examples: [{ dryRun: true }] },
)
export type RollbackBody = Static<typeof RollbackBody>

const NameDifference = Type.Object({
  added: Type.Array(Type.String()),
  removed: Type.Array(Type.String()),
  changed: Type.Array(Type.String()),
})

/** What a rollback would change. Values are never shown, only the names of what differs. */
export const RollbackPlan = Type.Object({
  fromDeployId: Id('deploy'),
  toDeployId: Id('deploy'),
  code: Type.Object({ changes: Type.Boolean(), from: Type.String(), to: Type.String() }),
  envVars: NameDifference,
  secretFiles: NameDifference,
  settings: Type.Array(Type.Object({ name: Type.String(), from: Type.String(), to: Type.String() })),
  strategy: OneOf(rolloutStrategies, 'stop_first: the service would be away between the two releases'),
})
export type RollbackPlan = Static<typeof RollbackPlan>

export const Source = Type.Object({
  id: Id('source'),
  sha256: Type.String({
    pattern: '^[0-9a-f]{64}$',
    examples: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
  }),
  sizeBytes: Type.Integer(),
  fileCount: Type.Integer(),
})
export type Source = Static<typeof Source>

export const Uploaded = Type.Object({ source: Source, deployId: Type.Optional(Id('deploy')) })
export type Uploaded = Static<typeof Uploaded>

/** Default of the largest upload accepted, in bytes. */
export const defaultMaxUploadBytes = 512 * 1024 * 1024

/** What one upload may be, as the operator has set it. Sizes in bytes. */
export const UploadLimits = Type.Object({
  maxBytes: Type.Integer({ description: 'Of the archive' }),
  maxUnpackedBytes: Type.Integer({ description: 'Of the files in it, together' }),
  maxFiles: Type.Integer({ description: 'Files, links and folders together' }),
})
export type UploadLimits = Static<typeof UploadLimits>

export const uploadTypes = ['application/gzip', 'application/zip', 'multipart/form-data'] as const
