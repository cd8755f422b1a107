import { ACCOUNT_PATH, CODE_PATH, isOwnPath, type OAuthProblem } from '../../../shared/oauth.ts'

export const LOGIN_PATH = '/login'
export const HOME_PATH = '/'

export function redirect(location: string, cookies: readonly string[] = []): Response {
  const headers = new Headers({ Location: location })
  for (const cookie of cookies) headers.append('Set-Cookie', cookie)
  return new Response(null, { status: 303, headers })
}

/** Where a browser goes, under the public URL and nowhere else: what is no path of ours leads to the fallback. */
export const pageUrl = (publicUrl: string, path: string, fallback = HOME_PATH): string => publicUrl + (isOwnPath(path) ? path : fallback)

export function problemUrl(publicUrl: string, problem: OAuthProblem, { returnTo, isLink }: { returnTo: string; isLink: boolean }): string {
  const isAtAccount = isLink && problem !== 'link_needs_login'
  const query = new URLSearchParams({ error: problem })
  if (!isAtAccount && returnTo !== HOME_PATH && isOwnPath(returnTo)) query.set('returnTo', returnTo)
  return `${publicUrl}${isAtAccount ? ACCOUNT_PATH : LOGIN_PATH}?${query}`
}

export const codeUrl = (publicUrl: string, returnTo: string): string =>
  `${publicUrl}${CODE_PATH}${returnTo === HOME_PATH ? '' : `?${new URLSearchParams({ returnTo })}`}`
