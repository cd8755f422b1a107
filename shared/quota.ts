import { type Static, Type } from '@sinclair/typebox'
import { StrictObject } from './schema.ts'

export const quotaNames = {
  services: 'Services',
  instances: 'Instances that its services ask for',
  datastores: 'Databases and key-value stores',
  cores: 'Cores that the plans of services and databases promise',
  memoryGb: 'Memory that these plans promise, in GB',
  disks: 'Disks of services, those kept of deleted ones included',
  diskGb: 'Size of all disks, those of databases included, in GB',
  members: 'Members and open invites',
  builds: 'Builds at a time',
  deploys: 'Deploys that wait for a build',
  uploads: 'Uploads at a time',
  jobs: 'Jobs that wait or run',
  shells: 'Open shells',
  workspaces: 'Workspaces made by whoever made this one',
} as const

export type QuotaName = keyof typeof quotaNames
export const allQuotas = Object.keys(quotaNames) as QuotaName[]
export const MAX_QUOTA = 1_000_000

const Amount = Type.Number({ minimum: 0 })

export const Quota = Type.Object({
  name: Type.Unsafe<QuotaName>({ type: 'string', enum: allQuotas }),
  description: Type.String(),
  used: Amount,
  limit: Type.Union([Amount, Type.Null()], { description: 'Null where there is no limit' }),
  isDefault: Type.Boolean({ description: 'Whether the limit is that of every workspace' }),
})
export type Quota = Static<typeof Quota>

const Limit = Type.Optional(
  Type.Union([Type.Integer({ minimum: 0, maximum: MAX_QUOTA }), Type.Null()], {
    description: 'Null is the default again',
    examples: [100],
  }),
)

export const QuotaPatch = StrictObject({
  services: Limit,
  instances: Limit,
  datastores: Limit,
  cores: Limit,
  memoryGb: Limit,
  disks: Limit,
  diskGb: Limit,
  members: Limit,
  builds: Limit,
  deploys: Limit,
  uploads: Limit,
  jobs: Limit,
  shells: Limit,
  workspaces: Limit,
} satisfies Record<QuotaName, typeof Limit>)
export type QuotaPatch = Static<typeof QuotaPatch>
