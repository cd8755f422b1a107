import { sessionCookie } from '../../http/access/credential.ts'
import { browsersNameOf } from '../../http/access/own-cookies.ts'
import { SESSION_DAYS } from './store.ts'

const SESSION_SECONDS = SESSION_DAYS * 24 * 3600

export interface CookieWriter {
  set(token: string): Record<string, string>
  clear(): Record<string, string>
}

export function createCookieWriter(publicUrl: string): CookieWriter {
  const secure = publicUrl.startsWith('https:')
  const write = (value: string, maxAge: number) => ({
    'Set-Cookie': new Bun.Cookie(browsersNameOf(sessionCookie, secure), value, {
      path: '/',
      httpOnly: true,
      sameSite: 'lax',
      secure,
      maxAge,
    }).toString(),
  })
  return { set: (token) => write(token, SESSION_SECONDS), clear: () => write('', 0) }
}
