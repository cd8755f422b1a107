/** Name of the cookie that carries a browser's session. */
export const sessionCookie = 'cpd_session'

/** What a request shows to say who is calling. `malformed` is an Authorization header that is not a Bearer token. */
export type Credential = { kind: 'none' } | { kind: 'malformed' } | { kind: 'bearer'; token: string } | { kind: 'session'; token: string }

const none: Credential = { kind: 'none' }
const malformed: Credential = { kind: 'malformed' }
const bearerPattern = /^Bearer +([!-~]{1,512})$/i

/** The credential of a request. A Bearer token, even a bad one, wins over the cookie: who sends both means the token. */
export function credentialOf(headers: Headers): Credential {
  const authorization = headers.get('authorization')
  if (authorization !== null) {
    const token = bearerPattern.exec(authorization)?.[1]
    return token === undefined ? malformed : { kind: 'bearer', token }
  }
  const token = sessionTokenOf(headers)
  return token === undefined ? none : { kind: 'session', token }
}

/** The session token of the request's cookie, whatever other credential it shows. */
export function sessionTokenOf(headers: Headers): string | undefined {
  const cookies = headers.get('cookie')
  if (cookies === null) return undefined
  const token = new Bun.CookieMap(cookies).get(sessionCookie)
  return token === null || token === '' ? undefined : token
}
