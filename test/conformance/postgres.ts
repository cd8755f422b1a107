import type { OperationId } from '../../shared/operations/all.ts'
import { call } from '../support/client.ts'
import { addDatastore } from '../support/datastores.ts'
import { until } from '../support/until.ts'
import type { Prepare, SuccessCase } from './cases.ts'
import type { World } from './world.ts'

type PostgresCase = Exclude<Extract<OperationId, `${string}Postgres`>, 'listPostgres'> | 'getPostgresConnectionInfo'

const send = (method: string, status: number, path: string, json?: unknown): SuccessCase[] => [
  { status, path, options: { method, ...(json !== undefined && { json }) } },
]

/** The path of a database that does not run. */
const suspended = ({ platform, workspaceId }: World): string => `/v1/postgres/${addDatastore(platform, { workspaceId, isSuspended: true })}`

/** The path of a database just made, once it can be connected to. */
async function running({ platform }: World): Promise<string> {
  const asAdmin = { token: platform.adminToken }
  const { body } = await call<{ id: string }>(`${platform.url}/v1/postgres`, { ...asAdmin, json: { name: `db ${crypto.randomUUID()}` } })
  const path = `/v1/postgres/${body.id}`
  await until(`${path} is available`, async () => {
    const seen = await call<{ status: string }>(platform.url + path, asAdmin)
    return seen.body.status === 'available'
  })
  return path
}

export const postgresCases: Record<PostgresCase, Prepare> = {
  createPostgres: ({ workspaceId }) =>
    send('POST', 201, '/v1/postgres', {
      ...{
        name: `made ${crypto.randomUUID()}`,
        ownerId: workspaceId,
        plan: 'basic_1gb',
        databaseName: '',
        databaseUser: 'app',
        diskSizeGB: 1,
      },
      ...{ environmentId: null, readReplicas: null, ipAllowList: [], enableHighAvailability: false, connectionPool: 'none' },
      ...{ datadogAPIKey: '', parameterOverrides: { work_mem: '8MB' } },
    }),
  getPostgres: (world) => [{ status: 200, path: suspended(world) }],
  updatePostgres: (world) =>
    send('PATCH', 200, suspended(world), { name: `renamed ${crypto.randomUUID()}`, diskSizeGB: 2, ipAllowList: [] }),
  deletePostgres: (world) => send('DELETE', 204, suspended(world)),
  suspendPostgres: async (world) => send('POST', 202, `${await running(world)}/suspend`),
  async resumePostgres(world) {
    const path = await running(world)
    await call(`${world.platform.url}${path}/suspend`, { method: 'POST', token: world.platform.adminToken })
    return send('POST', 202, `${path}/resume`)
  },
  restartPostgres: async (world) => send('POST', 202, `${await running(world)}/restart`),
  getPostgresConnectionInfo: (world) => [{ status: 200, path: `${suspended(world)}/connection-info` }],
}
