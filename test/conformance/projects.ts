import type { environmentOperations } from '../../shared/operations/environments.ts'
import type { projectOperations } from '../../shared/operations/projects.ts'
import { call } from '../support/client.ts'
import type { Prepare } from './cases.ts'
import type { World } from './world.ts'

type ProjectId = keyof typeof projectOperations | keyof typeof environmentOperations

const at = async (environment: Promise<string>, rest = ''): Promise<string> => `/v1/environments/${await environment}${rest}`

/** The path of an environment's resources, and a service that is in it. */
async function withService(world: World): Promise<{ path: string; serviceId: string }> {
  const [path, serviceId] = [await at(world.makeEnvironment(), '/resources'), await world.makeService()]
  const { platform } = world
  await call(platform.url + path, { json: { resourceIds: [serviceId] }, token: platform.adminToken })
  return { path, serviceId }
}

/** Requests for projects and environments, which succeed. */
export const projectCases: Record<ProjectId, Prepare> = {
  listProjects: async (world) => {
    await world.makeEnvironment()
    return [
      { status: 200, path: `/v1/projects?ownerId=${world.workspaceId}&limit=100` },
      { status: 200, path: '/v1/projects?name=nobody,nothing' },
    ]
  },
  createProject: ({ workspaceId }) => [
    { status: 201, path: '/v1/projects', options: { json: { name: 'plain' } } },
    { status: 201, path: '/v1/projects', options: { json: { name: 'of nothing', ownerId: workspaceId, environments: null } } },
    {
      status: 201,
      path: '/v1/projects',
      options: {
        json: {
          name: 'whole',
          environments: [
            { name: 'production', protectedStatus: 'protected', networkIsolationEnabled: true },
            { name: 'staging', protectedStatus: 'unprotected', networkIsolationEnabled: false, ipAllowList: null },
          ],
        },
      },
    },
  ],
  getProject: async (world) => [{ status: 200, path: `/v1/projects/${await world.makeProject()}` }],
  updateProject: async (world) => [
    {
      status: 200,
      path: `/v1/projects/${await world.makeProject()}`,
      options: { method: 'PATCH', json: { name: 'renamed' } },
    },
    { status: 200, path: `/v1/projects/${await world.makeProject()}`, options: { method: 'PATCH', json: {} } },
  ],
  deleteProject: async (world) => [{ status: 204, path: `/v1/projects/${await world.makeProject()}`, options: { method: 'DELETE' } }],
  listEnvironments: async (world) => {
    await withService(world)
    return [
      { status: 200, path: '/v1/environments?limit=100' },
      { status: 200, path: `/v1/environments?projectId=prj-0b1c2d3e4f5g6h7i8j9k,${await world.makeProject()}&limit=100` },
    ]
  },
  createEnvironment: async (world) => [
    { status: 201, path: '/v1/environments', options: { json: { name: 'staging', projectId: await world.makeProject() } } },
    {
      status: 201,
      path: '/v1/environments',
      options: {
        json: { name: 'production', projectId: await world.makeProject(), protectedStatus: 'protected', networkIsolationEnabled: true },
      },
    },
  ],
  getEnvironment: async (world) => [{ status: 200, path: await at(world.makeEnvironment()) }],
  updateEnvironment: async (world) => [
    { status: 200, path: await at(world.makeEnvironment()), options: { method: 'PATCH', json: { name: 'renamed' } } },
    {
      status: 200,
      path: await at(world.makeEnvironment(), '?force=true'),
      options: { method: 'PATCH', json: { protectedStatus: 'protected', networkIsolationEnabled: true } },
    },
  ],
  deleteEnvironment: async (world) => [{ status: 204, path: await at(world.makeEnvironment()), options: { method: 'DELETE' } }],
  addEnvironmentResources: async (world) => [
    {
      status: 201,
      path: await at(world.makeEnvironment(), '/resources'),
      options: { json: { resourceIds: [await world.makeService(), await world.makeService({ type: 'static_site' })] } },
    },
  ],
  removeEnvironmentResources: async (world) => {
    const { path, serviceId } = await withService(world)
    const remove = { status: 204, options: { method: 'DELETE' } }
    return [
      { ...remove, path: `${path}?resourceIds=${serviceId}` },
      { ...remove, path: `${path}?resourceIds=${serviceId}&force=true` },
      // Render's Terraform provider has the service's id in place of the environment's, before it moves one.
      { ...remove, path: `/v1/environments/${serviceId}/resources?resourceIds=${serviceId}` },
    ]
  },
}
