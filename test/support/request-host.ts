import { REQUESTS_PER_PAGE } from '../../server/apps/source-hosts/port.ts'

interface Shown {
  number: number
  title: string
  state: 'open' | 'closed'
  sha: string
  /** Whose repository the commit comes from. */
  owner: string
}

/** A stand-in for the part of a Gitea that has the requests and comments of one repository, `ada/shop`. */
export interface RequestHost {
  url: string
  put(request: Partial<Shown> & { number: number }): void
  remove(number: number): void
  comments: { id: number; number: number; body: string }[]
  /** What was asked for, as `METHOD path`. */
  asked: string[]
  /** Answered by this status instead, from now on; 0 takes it back. */
  failWith(status: number): void
  /** Called before an answer is given. */
  meanwhile: (asked: string) => void
  reset(): void
  close(): Promise<void>
}

export function startRequestHost(): RequestHost {
  const requests = new Map<number, Shown>()
  const host: Pick<RequestHost, 'comments' | 'asked' | 'meanwhile'> = { comments: [], asked: [], meanwhile: () => {} }
  let failure = 0

  function show({ number, title, state, sha, owner }: Shown) {
    const repo = (of: string) => ({ id: of === 'ada' ? 1 : 2, full_name: `${of}/shop`, default_branch: 'main' })
    const html_url = `https://git.example.com/ada/shop/pulls/${number}`
    return { number, title, html_url, state, head: { ref: 'hats', sha, repo: repo(owner) }, base: { ref: 'main', sha, repo: repo('ada') } }
  }

  function pageOf(query: URLSearchParams) {
    const open = [...requests.values()].filter(({ state }) => state === 'open').reverse()
    const from = (Number(query.get('page')) - 1) * REQUESTS_PER_PAGE
    return open.slice(from, from + REQUESTS_PER_PAGE).map(show)
  }

  function comment(number: number, body: string) {
    const made = { id: host.comments.length + 1, number, body }
    host.comments.push(made)
    return made
  }

  function change(id: number, body: string) {
    const found = host.comments.find((one) => one.id === id)
    if (found !== undefined) found.body = body
    return found
  }

  async function answer(request: Request): Promise<unknown> {
    const { pathname, searchParams } = new URL(request.url)
    const [kind = '', part = '', comments] = pathname.replace('/api/v1/repos/ada/shop/', '').split('/')
    const { body = '' } = (request.method === 'GET' ? {} : await request.json()) as { body?: string }
    const number = Number(part)
    if (kind === 'pulls' && part === '') return pageOf(searchParams)
    if (kind === 'pulls') return requests.has(number) ? show(requests.get(number) as Shown) : undefined
    if (request.method === 'PATCH') return change(Number(comments), body)
    return request.method === 'POST' ? comment(number, body) : host.comments.filter((one) => one.number === number)
  }

  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const asked = `${request.method} ${new URL(request.url).pathname.replace('/api/v1/repos/ada/shop/', '')}`
      host.asked.push(asked)
      if (failure > 0) return new Response(null, { status: failure })
      const found = await answer(request)
      host.meanwhile(asked)
      return found === undefined ? new Response(null, { status: 404 }) : Response.json(found)
    },
  })
  return Object.assign(host, {
    url: `http://127.0.0.1:${server.port}`,
    put: (request: Partial<Shown> & { number: number }) => {
      const known = requests.get(request.number)
      requests.set(request.number, { title: 'Sell hats', state: 'open', sha: 'a'.repeat(40), owner: 'ada', ...known, ...request })
    },
    remove: (number: number) => void requests.delete(number),
    failWith: (status: number) => {
      failure = status
    },
    reset: () => {
      requests.clear()
      failure = 0
      Object.assign(host, { meanwhile: () => {} })
      for (const list of [host.asked, host.comments]) list.length = 0
    },
    close: () => server.stop(true),
  })
}
