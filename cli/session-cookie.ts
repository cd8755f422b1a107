/** Name of the cookie that carries a session. */
export const sessionCookie = 'cpd_session'

/** The session that an answer opens, if it does. */
export const sessionIn = (headers: Headers): string | undefined =>
  headers
    .getSetCookie()
    .map((cookie) => cookie.split(';', 1)[0] ?? '')
    .find((pair) => pair.startsWith(`${sessionCookie}=`))
    ?.slice(sessionCookie.length + 1)
