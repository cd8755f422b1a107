import { type DeviceGrant, type DeviceTokens, deviceGrantType, refreshGrantType } from '../../shared/device.ts'
import type { OperationId } from '../../shared/operations/all.ts'
import { call, cookieOf } from '../support/client.ts'
import { testAdmin } from '../support/server.ts'
import type { SuccessCase } from './cases.ts'
import type { World } from './world.ts'

type DeviceIds = Extract<
  OperationId,
  'createDeviceGrant' | 'redeemDeviceGrant' | 'refreshDeviceToken' | 'revokeDeviceToken' | 'getDeviceRequest' | 'answerDeviceRequest'
>

const anonymous = (status: number, path: string, json: unknown): SuccessCase => ({ status, path, options: { json }, isAnonymous: true })

async function newGrant({ platform }: World): Promise<DeviceGrant> {
  return (await call<DeviceGrant>(`${platform.url}/v1/device-grant`, { json: { client_id: 'cpctl' } })).body
}

/** How the administrator's browser says yes. */
async function approval({ platform }: World): Promise<{ cookie: string; headers: Record<string, string> }> {
  const cookie = cookieOf(await call(`${platform.url}/v1/auth/login`, { json: testAdmin }))
  return { cookie, headers: { origin: platform.url } }
}

async function approvedGrant(world: World): Promise<DeviceGrant> {
  const grant = await newGrant(world)
  await call(`${world.platform.url}/v1/device-requests`, { json: { code: grant.user_code, approve: true }, ...(await approval(world)) })
  return grant
}

const redemption = (deviceCode: string) => ({ grant_type: deviceGrantType, device_code: deviceCode })

async function tokensOf(world: World): Promise<DeviceTokens> {
  const json = redemption((await approvedGrant(world)).device_code)
  return (await call<DeviceTokens>(`${world.platform.url}/v1/device-token`, { json })).body
}

export const deviceCases: Record<DeviceIds, (world: World) => Promise<SuccessCase[]>> = {
  createDeviceGrant: async () => [anonymous(200, '/v1/device-grant', { client_id: 'cpctl', client_name: 'cpctl on laptop' })],
  redeemDeviceGrant: async (world) => [
    anonymous(400, '/v1/device-token', redemption((await newGrant(world)).device_code)),
    anonymous(200, '/v1/device-token', redemption((await approvedGrant(world)).device_code)),
  ],
  refreshDeviceToken: async (world) => {
    const { refresh_token } = await tokensOf(world)
    const refresh = { grant_type: refreshGrantType, refresh_token }
    return [anonymous(200, '/v1/token/refresh/', refresh), anonymous(400, '/v1/token/refresh', { ...refresh, refresh_token: 'cpr_none' })]
  },
  revokeDeviceToken: async (world) => [anonymous(204, '/v1/oauth/revoke', { token: (await tokensOf(world)).access_token })],
  getDeviceRequest: async (world) => [
    {
      status: 200,
      path: `/v1/device-requests?code=${(await newGrant(world)).user_code}`,
      options: await approval(world),
      isAnonymous: true,
    },
  ],
  answerDeviceRequest: async (world) => [
    {
      status: 200,
      path: '/v1/device-requests',
      options: { json: { code: (await newGrant(world)).user_code, approve: false }, ...(await approval(world)) },
      isAnonymous: true,
    },
  ],
}
