/** A neighbour may plant cookies for a whole domain, but over https none with this prefix (RFC 6265bis, section 4.1.3). */
const hostPrefix = '__Host-'
const ownPrefix = 'cpd_'

export const browsersNameOf = (name: string, isHttps: boolean): string => (isHttps ? hostPrefix + name : name)

export function ownCookiesOf(cookies: string): string {
  const kept = cookies.split(';').flatMap((pair) => {
    const cookie = pair.trim()
    if (cookie.startsWith(hostPrefix + ownPrefix)) return cookie.slice(hostPrefix.length)
    return cookie.startsWith(ownPrefix) ? [] : cookie
  })
  return kept.join('; ')
}

export function keepOwnCookies(request: Request): Request {
  const cookies = request.headers.get('cookie')
  if (cookies !== null) request.headers.set('cookie', ownCookiesOf(cookies))
  return request
}
