import type { envGroupOperations } from '../../shared/operations/env-groups.ts'
import { call } from '../support/client.ts'
import type { Prepare, SuccessCase } from './cases.ts'
import type { World } from './world.ts'

let count = 0

/** The path of a group just made, with a variable and a secret file. */
async function groupPath(world: World, changes: Record<string, unknown> = {}): Promise<string> {
  const json = {
    name: `group-${++count}`,
    envVars: [{ key: 'SHARED', value: '1' }],
    secretFiles: [{ name: 'a.pem', content: 'x' }],
    ...changes,
  }
  const { body } = await call<{ id: string }>(`${world.platform.url}/v1/env-groups`, { json, token: world.platform.adminToken })
  return `/v1/env-groups/${body.id}`
}

const send = (method: string, status: number, path: string, json?: unknown): SuccessCase => ({
  status,
  path,
  options: { method, ...(json === undefined ? {} : { json }) },
})

/** Removals answer nothing, and the group to who wants to know what they mean. */
const removals = async (world: World, pathBelow: (serviceId: string) => string, query = ''): Promise<SuccessCase[]> => {
  const serviceIds = [await world.makeService()]
  const path = async () => (await groupPath(world, { serviceIds })) + pathBelow(serviceIds[0] ?? '')
  return [
    send('DELETE', 204, (await path()) + query),
    send('DELETE', 200, `${await path()}${query === '' ? '?' : `${query}&`}deploy=true`),
    send('DELETE', 200, `${await path()}${query === '' ? '?' : `${query}&`}deploy=false`),
  ]
}

/** Requests for groups of variables, which succeed. */
export const envGroupCases: Record<keyof typeof envGroupOperations, Prepare> = {
  listEnvGroups: async (world) => {
    await groupPath(world, { serviceIds: [await world.makeService()] })
    return [
      { status: 200, path: `/v1/env-groups?ownerId=${world.workspaceId}&limit=100` },
      { status: 200, path: '/v1/env-groups?name=nobody,nothing&createdAfter=2026-01-01T00:00:00Z' },
    ]
  },
  createEnvGroup: async (world) => {
    const environmentId = await world.makeEnvironment()
    const projectId = await world.makeProject()
    const secretFiles = [{ name: 'a.pem', content: 'x' }]
    const envVars = [
      { key: 'MADE', generateValue: true },
      { key: 'MARKED', value: 'x${MADE}', interpolate: true },
    ]
    return [
      send('POST', 201, '/v1/env-groups', { name: 'plain' }),
      send('POST', 201, '/v1/env-groups', { name: 'nulls', ownerId: world.workspaceId, envVars: [], secretFiles: null, serviceIds: null }),
      send('POST', 201, '/v1/env-groups', { name: 'placed', environmentId, envVars, secretFiles }),
      send('POST', 201, '/v1/env-groups', { name: "a project's", projectId }),
      send('POST', 201, '/v1/env-groups?deploy=true', { name: 'linked', envVars, serviceIds: [await world.makeService()] }),
    ]
  },
  getEnvGroup: async (world) => [{ status: 200, path: await groupPath(world, { serviceIds: [await world.makeService()] }) }],
  updateEnvGroup: async (world) => [send('PATCH', 200, await groupPath(world), { name: 'renamed group' })],
  deleteEnvGroup: (world) => removals(world, () => '', '?force=true'),
  replaceGroupEnvVars: async (world) => [
    send('PUT', 200, `${await groupPath(world, { serviceIds: [await world.makeService()] })}/env-vars`, [
      { key: 'GIVEN', value: 'x' },
      { key: 'MADE', generateValue: true },
    ]),
  ],
  setGroupEnvVar: async (world) => [send('PUT', 200, `${await groupPath(world)}/env-vars/ONE`, { value: '1' })],
  deleteGroupEnvVar: (world) => removals(world, () => '/env-vars/SHARED'),
  setGroupSecretFile: async (world) => [send('PUT', 200, `${await groupPath(world)}/secret-files/b.pem`, { content: 'y' })],
  deleteGroupSecretFile: (world) => removals(world, () => '/secret-files/a.pem'),
  linkEnvGroup: async (world) => [send('POST', 200, `${await groupPath(world)}/services/${await world.makeService()}`)],
  unlinkEnvGroup: (world) => removals(world, (serviceId) => `/services/${serviceId}`),
}
