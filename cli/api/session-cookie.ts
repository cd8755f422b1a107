const sessionCookie = 'cpd_session'
/** What servers call it whose public URL is https. */
const hostSessionCookie = `__Host-${sessionCookie}`

/** The Cookie header of a session: a server takes one of the names and overlooks the other. */
export const cookieOfSession = (token: string): string => `${sessionCookie}=${token}; ${hostSessionCookie}=${token}`

export const sessionIn = (headers: Headers): string | undefined =>
  headers
    .getSetCookie()
    .map((cookie) => cookie.split(';', 1)[0]?.split('=') ?? [])
    .find(([name]) => name === sessionCookie || name === hostSessionCookie)?.[1]
