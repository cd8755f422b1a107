import type { Me } from '../../shared/auth.ts'
import type { Deploy } from '../../shared/deploy.ts'
import type { KeyValue } from '../../shared/key-value.ts'
import { permissionNames } from '../../shared/permission.ts'
import type { Postgres } from '../../shared/postgres.ts'
import type { Environment, Project } from '../../shared/project.ts'
import type { Service } from '../../shared/service.ts'

export const serviceId = 'srv-0b1c2d3e4f5g6h7i8j9k'
export const deployId = 'dep-0b1c2d3e4f5g6h7i8j9k'
export const workspaceId = 'tea-0b1c2d3e4f5g6h7i8j9k'
export const keyId = 'key-0b1c2d3e4f5g6h7i8j9k'

export const exampleService = (fields: Partial<Service> = {}): Service => ({
  id: serviceId,
  name: 'web',
  ownerId: workspaceId,
  type: 'web_service',
  slug: 'web',
  createdAt: '2026-02-01T10:00:00.000Z',
  updatedAt: '2026-02-01T11:00:00.000Z',
  dashboardUrl: 'http://localhost:8400/docs',
  suspended: 'not_suspended',
  suspenders: [],
  autoDeploy: 'no',
  autoDeployTrigger: 'off',
  notifyOnFail: 'default',
  rootDir: '',
  serviceDetails: {
    runtime: 'node',
    env: 'node',
    plan: 'starter',
    buildPlan: 'starter',
    numInstances: 2,
    url: 'http://web.localhost:8080',
    envSpecificDetails: { buildCommand: 'npm ci', startCommand: 'npm start' },
  },
  ...fields,
})

export const exampleDeploy = (fields: Partial<Deploy> = {}): Deploy => ({
  id: deployId,
  status: 'live',
  trigger: 'api',
  createdAt: '2026-02-01T11:59:00.000Z',
  updatedAt: '2026-02-01T11:59:10.000Z',
  startedAt: '2026-02-01T11:59:00.000Z',
  finishedAt: '2026-02-01T11:59:10.000Z',
  rollout: { strategy: 'rolling' },
  ...fields,
})

export const exampleMe = (fields: Partial<Me> = {}): Me => ({
  actor: { type: 'user', id: 'usr-0b1c2d3e4f5g6h7i8j9k', name: 'Ada', email: 'ada@example.com' },
  workspace: { id: workspaceId, name: 'Main' },
  role: 'admin',
  permissions: permissionNames,
  scope: null,
  ...fields,
})

/** Wraps items of a list as the API does. */
export const pageOf = <N extends string, T>(name: N, items: T[]) =>
  items.map((item, index) => ({ [name]: item, cursor: `c${index}` })) as unknown as ({ [K in N]: T } & { cursor: string })[]

export const projectId = 'prj-0b1c2d3e4f5g6h7i8j9k'
export const environmentId = 'evm-0b1c2d3e4f5g6h7i8j9k'

export const exampleProject = (fields: Partial<Project> = {}): Project => ({
  id: projectId,
  name: 'shop',
  owner: { id: workspaceId, name: 'Main', email: 'ada@example.com', type: 'team' },
  environmentIds: [],
  createdAt: '2026-02-01T10:00:00.000Z',
  updatedAt: '2026-02-01T11:00:00.000Z',
  ...fields,
})

export const exampleEnvironment = (fields: Partial<Environment> = {}): Environment => ({
  id: environmentId,
  name: 'staging',
  projectId,
  databasesIds: [],
  redisIds: [],
  serviceIds: [],
  envGroupIds: [],
  protectedStatus: 'unprotected',
  networkIsolationEnabled: false,
  createdAt: '2026-02-01T10:00:00.000Z',
  updatedAt: '2026-02-01T11:00:00.000Z',
  ...fields,
})

export const exampleDatabase: Postgres = {
  id: 'dpg-0b1c2d3e4f5g6h7i8j9k-a',
  name: 'shop',
  owner: { id: workspaceId, name: 'Main', email: 'ada@example.com', type: 'team' },
  plan: 'basic_256mb',
  region: 'oregon',
  status: 'available',
  version: '18',
  ipAllowList: [],
  diskState: 'ok',
  suspended: 'not_suspended',
  suspenders: [],
  createdAt: '2026-02-01T11:00:00.000Z',
  updatedAt: '2026-02-01T11:00:00.000Z',
  dashboardUrl: 'http://localhost:8400/docs',
  role: 'primary',
  databaseName: 'shop',
  databaseUser: 'shop_user',
  diskSizeGB: 1,
  diskAutoscalingEnabled: false,
  highAvailabilityEnabled: false,
  connectionPool: 'none',
  readReplicas: [],
}

export const exampleStore: KeyValue = {
  id: 'red-0b1c2d3e4f5g6h7i8j9k',
  name: 'cache',
  owner: exampleDatabase.owner,
  plan: 'starter',
  region: 'oregon',
  status: 'available',
  version: '9',
  ipAllowList: [],
  diskState: 'ok',
  suspended: 'not_suspended',
  suspenders: [],
  createdAt: exampleDatabase.createdAt,
  updatedAt: exampleDatabase.updatedAt,
  dashboardUrl: 'http://localhost/docs',
  options: { maxmemoryPolicy: 'allkeys_lru', persistenceMode: 'journal_snapshot' },
}
