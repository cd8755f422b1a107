/** Somebody with a browser that keeps cookies by host, follows redirects, and presses the buttons of pages; without scripts. */
export interface Visitor {
  /** Asks for one page, following nothing. */
  open(url: string, options?: { method?: string; form?: Record<string, string>; headers?: Record<string, string> }): Promise<Page>
  /** Follows redirects from a page until there is one to look at, or one of `until` would come next. */
  follow(page: Page, until?: (url: string) => boolean): Promise<Page>
  /** Sends the form of a page with the button of this value. */
  press(page: Page, value?: string): Promise<Page>
  /** Keeps the cookies that an answer sets. */
  keep(host: string, headers: Headers): void
  cookie(host: string, name: string): string | undefined
}

export interface Page {
  url: string
  status: number
  headers: Headers
  text: string
  /** Where it redirects to. */
  location: string | undefined
}

const MAX_REDIRECTS = 10

export function createVisitor(): Visitor {
  const jar = new Map<string, Map<string, string>>()
  const cookiesOf = (host: string) => {
    const cookies = jar.get(host) ?? new Map<string, string>()
    jar.set(host, cookies)
    return cookies
  }
  const visitor: Visitor = {
    async open(url, { method, form, headers = {} } = {}) {
      const cookies = cookiesOf(new URL(url).host)
      const response = await fetch(url, {
        method: method ?? (form === undefined ? 'GET' : 'POST'),
        redirect: 'manual',
        headers: { ...headers, cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
        ...(form === undefined ? {} : { body: new URLSearchParams(form) }),
      })
      visitor.keep(new URL(url).host, response.headers)
      const location = response.headers.get('location')
      const target = location === null ? undefined : new URL(location, url).href
      return { url, status: response.status, headers: response.headers, text: await response.text(), location: target }
    },
    async follow(page, until = () => false) {
      let current = page
      for (let count = 0; current.location !== undefined && !until(current.location); count++) {
        if (count === MAX_REDIRECTS) throw new Error(`Too many redirects, the last to ${current.location}`)
        current = await visitor.open(current.location)
      }
      return current
    },
    press(page, value) {
      const action = /<form[^>]* action="([^"]*)"/.exec(page.text)?.[1]
      const fields = [...page.text.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g)].map(([, name = '', text = '']) => [
        name,
        plain(text),
      ])
      const form = { ...Object.fromEntries(fields), ...(value === undefined ? {} : { account: value }) }
      const url = action === undefined ? page.url : plain(action)
      return visitor.open(url, { form, headers: { origin: new URL(page.url).origin } })
    },
    keep(host, headers) {
      const cookies = cookiesOf(host)
      for (const line of headers.getSetCookie()) {
        const { name, value, maxAge, expires } = Bun.Cookie.parse(line)
        const isOver = maxAge === 0 || value === '' || (expires !== undefined && new Date(expires).getTime() < Date.now())
        if (isOver) cookies.delete(name)
        else cookies.set(name, value)
      }
    },
    cookie: (host, name) => jar.get(host)?.get(name),
  }
  return visitor
}

const plain = (text: string): string => text.replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)))
