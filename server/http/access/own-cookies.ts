/**
 * Apps of tenants may be neighbours of ours, at names of one domain, and a host may plant cookies for the whole domain: somebody's browser
 * would then act in a session that somebody else has begun. Over https our cookies have the prefix that browsers let nobody but this host
 * set (RFC 6265bis, section 4.1.3), and those without it count for nothing. Over http there is no such thing.
 */
const hostPrefix = '__Host-'
const ownPrefix = 'cpd_'

/** What a cookie of ours is called in browsers. */
export const browsersNameOf = (name: string, isHttps: boolean): string => (isHttps ? hostPrefix + name : name)

/** The Cookie header of a request over https as everything behind reads it: ours under their names, and none that another host may have set. */
export function ownCookiesOf(cookies: string): string {
  const kept = cookies.split(';').flatMap((pair) => {
    const cookie = pair.trim()
    if (cookie.startsWith(hostPrefix + ownPrefix)) return cookie.slice(hostPrefix.length)
    return cookie.startsWith(ownPrefix) ? [] : cookie
  })
  return kept.join('; ')
}

/** Leaves our own cookies in a request that has come over https, before anything reads them. */
export function keepOwnCookies(request: Request): Request {
  const cookies = request.headers.get('cookie')
  if (cookies !== null) request.headers.set('cookie', ownCookiesOf(cookies))
  return request
}
