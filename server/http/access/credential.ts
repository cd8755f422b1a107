export const sessionCookie = 'cpd_session'

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

export function sessionTokenOf(headers: Headers): string | undefined {
  const cookies = headers.get('cookie')
  if (cookies === null) return undefined
  const token = new Bun.CookieMap(cookies).get(sessionCookie)
  return token === null || token === '' ? undefined : token
}
