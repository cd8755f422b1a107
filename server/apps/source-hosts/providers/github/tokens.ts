import { createAppAuth } from '@octokit/auth-app'
import { request } from '@octokit/request'
import { AppError } from '../../../../../shared/error.ts'
import { fetchHost, refusalOf } from '../ask.ts'
import type { Reach } from '../reach.ts'
import type { GithubAppKeys } from './apps.ts'

export interface GithubTokens {
  /** For calls of the API: kept until it is about to end. */
  forApi(): Promise<string>
  /** For git: reads this one repository, and is good for a whole hour, so that it does not end in mid fetch. */
  forRepository(name: string): Promise<string>
}

const MAX_KEPT = 500
const kept = new Map<string, string>()
/** The library's own keys do not name the app. */
const cacheOf = (appId: string) => ({
  get: (key: string): string => kept.get(`${appId} ${key}`) ?? '',
  set(key: string, value: string): void {
    kept.delete(`${appId} ${key}`)
    kept.set(`${appId} ${key}`, value)
    for (const oldest of [...kept.keys()].slice(0, Math.max(0, kept.size - MAX_KEPT))) kept.delete(oldest)
  },
})

export const appTokenOf = async (reach: Reach, keys: GithubAppKeys, signal: AbortSignal): Promise<string> =>
  (await authOf(reach, keys, signal)({ type: 'app' })).token

export function githubTokens(
  reach: Reach,
  { keys, installationId, signal }: { keys: GithubAppKeys; installationId: string; signal: AbortSignal },
): GithubTokens {
  const auth = authOf(reach, keys, signal)
  const ask = async (narrowed: { repositoryNames?: string[]; permissions?: { contents: 'read' }; refresh?: true }): Promise<string> => {
    try {
      return (await auth({ type: 'installation', installationId: Number(installationId), ...narrowed })).token
    } catch (error) {
      throw problemOf(error)
    }
  }
  return {
    forApi: () => ask({}),
    forRepository: (name) => ask({ repositoryNames: [name], permissions: { contents: 'read' }, refresh: true }),
  }
}

/** The library puts what our way out says below an error of its own. */
function problemOf(error: unknown): unknown {
  const cause = error instanceof Error ? error.cause : undefined
  if (cause instanceof AppError) return cause
  return new AppError('unavailable', 'GitHub gave no token for the installation.', { cause: error })
}

const authOf = (reach: Reach, { appId, privateKey }: GithubAppKeys, signal: AbortSignal) =>
  createAppAuth({
    appId,
    privateKey,
    cache: cacheOf(appId),
    request: request.defaults({ baseUrl: reach.apiUrl, request: { fetch: guardedFetch(reach, signal) } }),
  })

interface Sent {
  method?: 'GET' | 'POST'
  headers?: Record<string, string>
  body?: string
}

const guardedFetch =
  (reach: Reach, signal: AbortSignal) =>
  async (url: string, { method = 'GET', headers = {}, body }: Sent): Promise<Response> => {
    const path = url.slice(reach.apiUrl.length)
    const json = body === undefined ? undefined : JSON.parse(body)
    const response = await fetchHost(reach, { method, path, headers, json }, signal)
    if (!response.ok) throw refusalOf(reach, response)
    return response
  }
