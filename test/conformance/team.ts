import type { OperationId } from '../../shared/operations/all.ts'
import { type CallOptions, call, cookieOf } from '../support/client.ts'
import { addMember, memberPassword } from '../support/members.ts'
import { testAdmin } from '../support/server.ts'
import type { SuccessCase } from './cases.ts'
import type { World } from './world.ts'

type TeamIds = Extract<
  OperationId,
  | 'listTeamMembers'
  | 'updateTeamMember'
  | 'removeTeamMember'
  | 'leaveTeam'
  | 'listOwnerMembers'
  | 'listTeamInvites'
  | 'createTeamInvite'
  | 'deleteTeamInvite'
  | 'acceptTeamInvite'
  | 'createWorkspace'
  | 'getWorkspace'
  | 'updateWorkspace'
  | 'listQuotas'
  | 'setQuotas'
  | 'deleteWorkspace'
>

const newAddress = (): string => `${crypto.randomUUID()}@example.com`

const member = ({ platform, workspaceId }: World) => addMember(platform, workspaceId, 'developer')

async function invite({ platform }: World): Promise<{ id: string; token: string }> {
  const json = { email: newAddress(), role: 'viewer' }
  return (await call<{ id: string; token: string }>(`${platform.url}/v1/team-invites`, { json, token: platform.adminToken })).body
}

const as = ({ platform }: World, cookie: string, options: CallOptions = {}) => ({
  isAnonymous: true as const,
  options: { ...options, cookie, headers: { origin: platform.url } },
})

/** A workspace of the administrator's, beside the one of the first start. */
async function workspace(world: World): Promise<{ id: string; cookie: string }> {
  const { platform } = world
  const json = { name: 'Second' }
  const { body } = await call<{ id: string }>(`${platform.url}/v1/workspaces`, { json, token: platform.adminToken })
  return { id: body.id, cookie: cookieOf(await call(`${platform.url}/v1/auth/login`, { json: testAdmin })) }
}

const get = (path: string): SuccessCase => ({ status: 200, path })

export const teamCases: Record<TeamIds, (world: World) => Promise<SuccessCase[]>> = {
  listTeamMembers: async () => [get('/v1/team-members')],
  updateTeamMember: async (world) => {
    const path = `/v1/team-members/${(await member(world)).userId}`
    const scope = { serviceIds: [world.serviceId] }
    return [
      { status: 200, path, options: { method: 'PATCH', json: { role: 'viewer', scope } } },
      { status: 200, path, options: { method: 'PATCH', json: { scope: null } } },
    ]
  },
  removeTeamMember: async (world) => [
    { status: 204, path: `/v1/team-members/${(await member(world)).userId}`, options: { method: 'DELETE' } },
  ],
  leaveTeam: async (world) => [
    { status: 204, path: '/v1/team-members/leave', ...as(world, (await member(world)).cookie, { method: 'POST' }) },
  ],
  listOwnerMembers: async ({ workspaceId }) => [get(`/v1/owners/${workspaceId}/members`)],
  listTeamInvites: async (world) => {
    await invite(world)
    return [get('/v1/team-invites')]
  },
  createTeamInvite: async ({ serviceId }) => [
    { status: 201, path: '/v1/team-invites', options: { json: { email: newAddress(), role: 'developer' } } },
    {
      status: 201,
      path: '/v1/team-invites',
      options: { json: { email: newAddress(), role: 'viewer', scope: { serviceIds: [serviceId] } } },
    },
  ],
  deleteTeamInvite: async (world) => [{ status: 204, path: `/v1/team-invites/${(await invite(world)).id}`, options: { method: 'DELETE' } }],
  acceptTeamInvite: async (world) => {
    const { token } = await invite(world)
    return [
      {
        status: 200,
        path: '/v1/team-invites/accept',
        options: { json: { token, name: 'Ada', password: memberPassword } },
        isAnonymous: true,
      },
    ]
  },
  createWorkspace: async () => [{ status: 201, path: '/v1/workspaces', options: { json: { name: 'Another' } } }],
  getWorkspace: async ({ workspaceId }) => [get(`/v1/workspaces/${workspaceId}`)],
  listQuotas: async ({ workspaceId }) => [get(`/v1/workspaces/${workspaceId}/quotas`)],
  setQuotas: async ({ workspaceId }) => [
    { status: 200, path: `/v1/quotas/${workspaceId}`, options: { method: 'PATCH', json: { services: 1000, shells: null } } },
  ],
  updateWorkspace: async ({ workspaceId }) => [
    {
      status: 200,
      path: `/v1/workspaces/${workspaceId}`,
      options: { method: 'PATCH', json: { name: 'Renamed', requiresTwoFactor: false } },
    },
  ],
  deleteWorkspace: async (world) => {
    const { id, cookie } = await workspace(world)
    return [{ status: 204, path: `/v1/workspaces/${id}?confirm=Second`, ...as(world, cookie, { method: 'DELETE' }) }]
  },
}
