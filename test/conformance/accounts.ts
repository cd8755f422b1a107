import { createReset } from '../../server/identity/resets/store.ts'
import type { accountOperations } from '../../shared/operations/account.ts'
import { addMember, memberPassword } from '../support/members.ts'
import { enableTwoFactor, fromPage, nextTotp, totpAt } from '../support/two-factor.ts'
import type { SuccessCase } from './cases.ts'
import type { World } from './world.ts'

type Prepare = (world: World) => Promise<SuccessCase[]> | SuccessCase[]

const newMember = ({ platform, workspaceId }: World) => addMember(platform, workspaceId, 'viewer')

/** What a member sends from a page, who is new unless given. */
export async function asMember(world: World, request: Omit<SuccessCase, 'isAnonymous'>, cookie?: string): Promise<SuccessCase> {
  const headers = { origin: world.platform.url }
  return { ...request, isAnonymous: true, options: { ...request.options, cookie: cookie ?? (await newMember(world)).cookie, headers } }
}

/** A member with a second factor, and what proves them. */
async function memberWithCodes(world: World): Promise<{ userId: string; cookie: string; proof: { password: string; otp: string } }> {
  const member = await newMember(world)
  const { secret } = await enableTwoFactor(world.platform, { ...member, password: memberPassword })
  return { ...member, proof: { password: memberPassword, otp: nextTotp(secret) } }
}

/** Cases of what people do about their account. */
export const accountCases: Record<keyof typeof accountOperations, Prepare> = {
  listSessions: async (world) => [await asMember(world, { status: 200, path: '/v1/sessions' })],
  endSession: async (world) => {
    const { cookie } = await newMember(world)
    const sessions = await fromPage<{ session: { id: string } }[]>(world.platform, '/sessions', cookie)
    return [
      await asMember(world, { status: 204, path: `/v1/sessions/${sessions.body[0]?.session.id}`, options: { method: 'DELETE' } }, cookie),
    ]
  },
  endOtherSessions: async (world) => [await asMember(world, { status: 204, path: '/v1/sessions', options: { method: 'DELETE' } })],
  changePassword: async (world) => {
    const json = { currentPassword: memberPassword, newPassword: 'a third horse battery' }
    return [await asMember(world, { status: 204, path: '/v1/auth/password', options: { json } })]
  },
  requestPasswordReset: () => [
    { status: 202, path: '/v1/auth/password-reset', options: { json: { email: 'nobody@example.com' } }, isAnonymous: true },
  ],
  confirmPasswordReset: async (world) => {
    const { token } = createReset(world.platform.db, { userId: (await newMember(world)).userId, way: 'shown' }, Date.now())
    const json = { token, password: 'a third horse battery' }
    return [{ status: 204, path: '/v1/auth/password-reset/confirm', options: { json }, isAnonymous: true }]
  },
  getTwoFactor: async (world) => [await asMember(world, { status: 200, path: '/v1/auth/two-factor' })],
  beginTwoFactor: async (world) => [
    await asMember(world, { status: 200, path: '/v1/auth/two-factor', options: { json: { password: memberPassword } } }),
  ],
  confirmTwoFactor: async (world) => {
    const { cookie } = await newMember(world)
    const begun = await fromPage<{ secret: string }>(world.platform, '/auth/two-factor', cookie, { json: { password: memberPassword } })
    const json = { code: totpAt(begun.body.secret, Date.now()) }
    return [await asMember(world, { status: 200, path: '/v1/auth/two-factor/confirm', options: { json } }, cookie)]
  },
  renewRecoveryCodes: async (world) => {
    const { cookie, proof: json } = await memberWithCodes(world)
    return [await asMember(world, { status: 200, path: '/v1/auth/two-factor/recovery-codes', options: { json } }, cookie)]
  },
  removeTwoFactor: async (world) => {
    const { cookie, proof: json } = await memberWithCodes(world)
    return [await asMember(world, { status: 204, path: '/v1/auth/two-factor', options: { method: 'DELETE', json } }, cookie)]
  },
  resetMemberPassword: async (world) => [
    { status: 201, path: `/v1/team-members/${(await newMember(world)).userId}/password-reset`, options: { method: 'POST' } },
  ],
  resetMemberTwoFactor: async (world) => [
    { status: 204, path: `/v1/team-members/${(await memberWithCodes(world)).userId}/two-factor`, options: { method: 'DELETE' } },
  ],
}
