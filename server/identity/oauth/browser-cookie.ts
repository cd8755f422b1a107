import { browsersNameOf } from '../../http/access/own-cookies.ts'

/** The cookie lasts longer than an attempt, so that what is late is told apart from what began elsewhere. */
const COOKIE_SECONDS = 900

export interface BrowserCookie {
  read(headers: Headers): string | undefined
  write(token: string): string
}

const browserCookie = 'cpd_oauth'

/** `Lax`, because a provider's page sends the browser back. */
export function createBrowserCookie(publicUrl: string): BrowserCookie {
  const secure = publicUrl.startsWith('https:')
  return {
    read: (headers) => new Bun.CookieMap(headers.get('cookie') ?? '').get(browserCookie) || undefined,
    write: (token) =>
      new Bun.Cookie(browsersNameOf(browserCookie, secure), token, {
        path: '/',
        httpOnly: true,
        sameSite: 'lax',
        secure,
        maxAge: COOKIE_SECONDS,
      }).toString(),
  }
}
