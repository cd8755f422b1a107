import { createHash } from 'node:crypto'
import { tarGz } from './archives.ts'

export interface PythonDownloads {
  /** What UV_PYTHON_DOWNLOADS_JSON_URL is set to. */
  url: string
  asked: string[]
  /** Sent in place of each archive. */
  instead: string | undefined
  stop(): Promise<void>
}

/** A place on loopback that uv fetches releases of Python from, each a script that prints its version unless another archive is given. */
export async function startPythonDownloads(versions: readonly string[], archive = scriptArchive): Promise<PythonDownloads> {
  const archives = new Map<string, Uint8Array<ArrayBuffer>>()
  for (const version of versions) archives.set(`/${version}.tar.gz`, await archive(version))
  const downloads: PythonDownloads = { url: '', asked: [], instead: undefined, stop: async () => await server.stop(true) }
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request): Response {
      const { pathname } = new URL(request.url)
      downloads.asked.push(pathname)
      if (pathname === '/downloads.json')
        return Response.json(Object.fromEntries(versions.map((version) => describe(downloads.url, version, archives))))
      return new Response(downloads.instead ?? archives.get(pathname) ?? '', { status: archives.has(pathname) ? 200 : 404 })
    },
  })
  downloads.url = `http://127.0.0.1:${server.port}/downloads.json`
  return downloads
}

const family = process.arch === 'arm64' ? 'aarch64' : 'x86_64'

function describe(url: string, version: string, archives: ReadonlyMap<string, Uint8Array>): [string, object] {
  const [major, minor, patch] = version.split('.').map(Number)
  const path = `/${version}.tar.gz`
  const system = { name: 'cpython', arch: { family, variant: null }, os: 'linux', libc: 'gnu', variant: null, build: '20261110' }
  const sha256 = createHash('sha256')
    .update(archives.get(path) ?? '')
    .digest('hex')
  return [
    `cpython-${version}-linux-${family}-gnu`,
    { ...system, major, minor, patch, prerelease: '', url: new URL(path, url).href, sha256 },
  ]
}

/** What uv looks for before it writes its own place there. */
const SYSTEM_CONFIGURATION = `# system configuration generated and used by the sysconfig module\nbuild_time_vars = {"prefix": "/install"}\n`

async function scriptArchive(version: string): Promise<Uint8Array<ArrayBuffer>> {
  const line = version.split('.').slice(0, 2).join('.')
  return new Uint8Array(
    await tarGz([
      { name: `python/bin/python${line}`, mode: 0o755, content: `#!/bin/sh\necho Python ${version}\n` },
      { name: 'python/bin/python3', type: 'symlink', linkname: `python${line}` },
      { name: `python/lib/python${line}/_sysconfigdata__linux_${family}-linux-gnu.py`, content: SYSTEM_CONFIGURATION },
    ]),
  )
}
