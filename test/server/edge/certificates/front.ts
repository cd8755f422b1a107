import type { Pebble } from '../../../support/pebble.ts'

/** Stands in front of Pebble under an address of its own, and answers itself where it is told to. */
export interface Front {
  /** For CP_ACME_DIRECTORY; Pebble's root file is good for it. */
  directory: string
  paths: string[]
  close(): void
}

export interface FrontAnswers {
  /** Before the authority sees the request; what is returned is the answer in its place. */
  before?(path: string): Response | undefined | Promise<Response | undefined>
  /** Between the authority's answer and whoever waits for it. */
  after?(path: string): Promise<void>
}

export function startFront(pebble: Pebble, { before, after }: FrontAnswers): Front {
  const paths: string[] = []
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    tls: pebble.tls,
    async fetch(request) {
      const { pathname, host } = new URL(request.url)
      paths.push(pathname)
      const own = await before?.(pathname)
      if (own !== undefined) return own
      const headers = { host, 'content-type': request.headers.get('content-type') ?? '', 'user-agent': 'front' }
      const body = request.method === 'POST' ? await request.text() : null
      const reply = await fetch(new URL(pathname, pebble.directory), {
        method: request.method,
        headers,
        body,
        tls: { ca: pebble.tls.cert },
      })
      const text = await reply.text()
      await after?.(pathname)
      return new Response(text, { status: reply.status, headers: reply.headers })
    },
  })
  return { directory: `https://127.0.0.1:${server.port}/dir`, paths, close: () => void server.stop(true) }
}
