import type { Static, TSchema } from '@sinclair/typebox'
import { AppError } from '../../../../../shared/error.ts'
import { askHost } from '../ask.ts'
import type { Reach } from '../reach.ts'
import type { GithubAppKeys } from './apps.ts'
import { githubHeaders } from './github.ts'
import { GithubApp, GithubConversion, GithubInstallations, GithubMembership, GithubUser, GithubUserToken } from './shapes.ts'
import { appTokenOf } from './tokens.ts'

export const convertManifest = (reach: Reach, code: string, signal: AbortSignal): Promise<Static<typeof GithubConversion>> =>
  askHost(reach, { method: 'POST', path: `/app-manifests/${encodeURIComponent(code)}/conversions` }, GithubConversion, signal)

export async function installUrlOf(
  reach: Reach,
  { keys, state }: { keys: GithubAppKeys; state: string },
  signal: AbortSignal,
): Promise<string> {
  const slug = await slugOf(reach, keys, signal)
  return `${reach.url}/apps/${encodeURIComponent(slug)}/installations/new?${new URLSearchParams({ state })}`
}

/** The name in its address follows the app's own, which its owner can change. */
async function slugOf(reach: Reach, keys: GithubAppKeys, signal: AbortSignal): Promise<string> {
  const headers = githubHeaders(await appTokenOf(reach, keys, signal))
  return (await askHost(reach, { path: '/app', headers }, GithubApp, signal)).slug
}

export interface Claim {
  keys: GithubAppKeys
  code: string
  installationId: string
}

/**
 * The account that an installation is of, if whoever brings the code may dispose of it. The id comes in an address that anybody can make
 * up. An app of a workspace's own is installed by its owner only; one that all workspaces share is given to nobody but the account's owner,
 * as others who can see some of its repositories see the installation as well. @throws AppError forbidden.
 */
export async function claimedAccount(reach: Reach, { keys, code, installationId }: Claim, signal: AbortSignal): Promise<string> {
  const token = await userTokenOf(reach, { keys, code }, signal)
  const ask = <S extends TSchema>(path: string, schema: S) => askHost(reach, { path, headers: githubHeaders(token) }, schema, signal)
  const { installations } = await ask('/user/installations?per_page=100', GithubInstallations)
  const found = installations.find(({ id }) => String(id) === installationId)
  if (found === undefined) throw notTheirs()
  if (!keys.isShared) return found.account.login
  const { account } = found
  if (account.type === 'Organization') {
    const { state, role } = await ask(`/user/memberships/orgs/${encodeURIComponent(account.login)}`, GithubMembership)
    if (state !== 'active' || role !== 'admin') throw notTheirs()
  } else if ((await ask('/user', GithubUser)).id !== account.id) throw notTheirs()
  return account.login
}

const notTheirs = (): AppError =>
  new AppError('forbidden', 'This installation is not yours to connect. Ask an owner of the account to connect it to this workspace.')

async function userTokenOf(reach: Reach, { keys, code }: Pick<Claim, 'keys' | 'code'>, signal: AbortSignal): Promise<string> {
  const json = { client_id: keys.clientId, client_secret: keys.clientSecret, code }
  const answer = await askHost(
    { ...reach, apiUrl: reach.url },
    { method: 'POST', path: '/login/oauth/access_token', json },
    GithubUserToken,
    signal,
  )
  return answer.access_token
}
