import type { TestServer } from '../../../support/server.ts'

export interface Page {
  status: number
  headers: Headers
  /** Path and query of where it leads, for a redirect. */
  location: string | undefined
  text: string
}

/** What a browser does with pages and forms, cookies included, without the browser. */
export interface Browsing {
  get(path: string, headers?: Record<string, string>): Promise<Page>
  /** Sends a form as one of our own pages does. */
  post(path: string, fields: Record<string, string>, headers?: Record<string, string>): Promise<Page>
  cookies: Map<string, string>
}

export function browse({ url }: TestServer): Browsing {
  const cookies = new Map<string, string>()
  const send = async (path: string, init: RequestInit & { headers: Record<string, string> }): Promise<Page> => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(url + path, {
      ...init,
      redirect: 'manual',
      headers: { ...(cookie === '' ? {} : { cookie }), ...init.headers },
    })
    for (const line of response.headers.getSetCookie()) {
      const { name, value, maxAge } = Bun.Cookie.parse(line)
      if (maxAge === 0) cookies.delete(name)
      else cookies.set(name, value)
    }
    return {
      status: response.status,
      headers: response.headers,
      location: response.headers.get('location') ?? undefined,
      text: await response.text(),
    }
  }
  return {
    cookies,
    get: (path, headers = {}) => send(path, { headers: { accept: 'text/html', ...headers } }),
    post: (path, fields, headers = {}) =>
      send(path, { method: 'POST', body: new URLSearchParams(fields).toString(), headers: { ...formHeaders(url), ...headers } }),
  }
}

export const formHeaders = (origin: string) => ({ origin, 'content-type': 'application/x-www-form-urlencoded' })
