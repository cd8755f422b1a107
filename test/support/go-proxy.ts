import { createHash } from 'node:crypto'
import { zip } from './archives.ts'
import { type ChecksumDatabase, checksumDatabase } from './checksum-database.ts'

export interface GoProxy {
  url: string
  /** Paths that were asked for, in order. */
  asked: string[]
  /** The database whose answers it hands on. */
  db: ChecksumDatabase
  /** What is done before an answer is given: a wait, or another answer in its place. */
  before: ((path: string) => Promise<Response | undefined>) | undefined
  stop(): Promise<void>
}

const MODULE = 'golang.org/toolchain'
const system = `linux-${process.arch === 'x64' ? 'amd64' : 'arm64'}`

/** A module proxy on loopback with these releases of Go, each a script that prints its version, and the database that knows their hashes. */
export async function startGoProxy(versions: readonly string[]): Promise<GoProxy> {
  const released = versions.map((version) => ({ module: `v0.0.1-go${version}.${system}`, files: filesOf(version) }))
  const zips = new Map(released.map(({ module, files }) => [module, zipOf(module, files)]))
  const db = checksumDatabase(released.map(({ module, files }) => `${MODULE} ${module} ${hashOf(module, files)}`))
  const proxy: GoProxy = { url: '', asked: [], db, before: undefined, stop: async () => await server.stop(true) }
  const answer = (path: string): Response => {
    if (path === `${MODULE}/@v/list`) return new Response([...zips.keys(), 'v0.0.1-go9.9.9.plan9-386'].join('\n'))
    if (path === 'sumdb/sums.example/supported') return new Response('')
    const found = zips.get(/@v\/(.+)\.zip$/.exec(path)?.[1] ?? '') ?? db.answer(path.replace(/^sumdb\/sums\.example\//, ''))
    return found === undefined ? new Response('', { status: 404 }) : new Response(found)
  }
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const path = new URL(request.url).pathname.slice(1)
      proxy.asked.push(path)
      return (await proxy.before?.(path)) ?? answer(path)
    },
  })
  proxy.url = `http://127.0.0.1:${server.port}`
  return proxy
}

const filesOf = (version: string): Record<string, string> => ({
  VERSION: `go${version}\n`,
  'bin/go': `#!/bin/sh\necho go version go${version}\n`,
  'pkg/tool/linux/compile': '#!/bin/sh\n',
  'src/_go.mod': 'module std\n',
})

const zipOf = (module: string, files: Record<string, string>): Uint8Array<ArrayBuffer> =>
  new Uint8Array(zip(Object.entries(files).map(([name, content]) => ({ name: `${MODULE}@${module}/${name}`, content }))))

function hashOf(module: string, files: Record<string, string>): string {
  const sha256 = (text: string) => createHash('sha256').update(text)
  const lines = Object.entries(files).map(([name, content]) => `${sha256(content).digest('hex')}  ${MODULE}@${module}/${name}\n`)
  // By name, which is what comes after the hash.
  const sorted = lines.sort((a, b) => (a.slice(66) < b.slice(66) ? -1 : 1))
  return `h1:${sha256(sorted.join('')).digest('base64')}`
}
