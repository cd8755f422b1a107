import { putIdentity } from '../../server/identity/oauth/identity-store.ts'
import { beginPendingSignIn } from '../../server/identity/sign-in/pending.ts'
import type { oauthOperations } from '../../shared/operations/oauth.ts'
import { addMember, memberPassword } from '../support/members.ts'
import { enableTwoFactor, nextTotp } from '../support/two-factor.ts'
import type { SuccessCase } from './cases.ts'
import type { World } from './world.ts'

/** The world has this provider, which need not be there for what is asked here. */
export const oauthEnv = { CP_GITHUB_CLIENT_ID: 'client', CP_GITHUB_CLIENT_SECRET: 'secret of the client' }

const begin = '/v1/auth/oauth/github'
const anonymous = (status: number, path: string, options: SuccessCase['options'] = {}): SuccessCase => ({
  status,
  path,
  options,
  isAnonymous: true,
})

async function linkedMember({ platform, workspaceId }: World): Promise<{ cookie: string; headers: Record<string, string> }> {
  const { userId, cookie } = await addMember(platform, workspaceId, 'viewer')
  const issuer = 'https://github.com/login/oauth'
  putIdentity(platform.db, { issuer, subject: userId, provider: 'github', userId, email: null, createdAt: Date.now() })
  return { cookie, headers: { origin: platform.url } }
}

/** Cases of signing in through providers; what they come to with a provider, the tests of server/oauth show. */
export const oauthCases: Record<keyof typeof oauthOperations, (world: World) => Promise<SuccessCase[]> | SuccessCase[]> = {
  listAuthProviders: () => [anonymous(200, '/v1/auth/providers')],
  beginOAuth: () => [anonymous(303, begin), anonymous(303, `${begin}?link=true`)],
  completeOAuth: () => [anonymous(303, `${begin}/callback?code=none&state=none`)],
  completeOAuthByForm: () => [anonymous(303, `${begin}/callback`, { json: { code: 'none', state: 'none' } })],
  finishSignIn: async ({ platform, workspaceId }) => {
    const { userId, cookie } = await addMember(platform, workspaceId, 'viewer')
    const { secret } = await enableTwoFactor(platform, { cookie, password: memberPassword })
    const token = beginPendingSignIn(platform.db, userId, Date.now())
    return [anonymous(200, '/v1/auth/login/code', { json: { otp: nextTotp(secret) }, cookie: `cpd_pending=${token}` })]
  },
  listIdentities: async (world) => [anonymous(200, '/v1/auth/identities', await linkedMember(world))],
  unlinkIdentity: async (world) => [anonymous(204, '/v1/auth/identities/github', { method: 'DELETE', ...(await linkedMember(world)) })],
}
