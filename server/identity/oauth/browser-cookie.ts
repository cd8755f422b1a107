import { browsersNameOf } from '../../http/access/own-cookies.ts'

/** Longer than an attempt lasts, so that what is late is told apart from what began elsewhere by nobody but us. */
const COOKIE_SECONDS = 900

/** The cookie by which a sign-in at a provider is known to end in the browser where it began. */
export interface BrowserCookie {
  /** The token that the browser brings, or undefined. */
  read(headers: Headers): string | undefined
  /** The value of Set-Cookie. */
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
