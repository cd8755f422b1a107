import { createHash } from 'node:crypto'
import { type TarEntry, tarGz } from './archives.ts'

export interface PackageRegistry {
  url: string
  /** Paths that were asked for, in order. */
  asked: string[]
  /** What is done before an answer is given: a wait, or another answer in its place. */
  before: ((path: string) => Promise<Response | undefined>) | undefined
  /** The hash of an archive in hexadecimal digits, by name and version as in `npm@10.8.2`. */
  hashOf(packed: string, algorithm?: string): string
  stop(): Promise<void>
}

/** A registry of npm on loopback with these versions of Node.js, each a script that prints its version, of npm, and other packages by name and version. */
export async function startNpmRegistry(
  versions: readonly string[],
  npmVersions: readonly string[],
  others: Readonly<Record<string, readonly TarEntry[]>> = {},
): Promise<PackageRegistry> {
  const archives = new Map<string, Uint8Array<ArrayBuffer>>()
  const name = `node-linux-${process.arch}`
  for (const version of versions) archives.set(`${name}@${version}`, await nodeArchive(version))
  for (const version of npmVersions) archives.set(`npm@${version}`, await npmArchive(version))
  for (const [packed, entries] of Object.entries(others)) archives.set(packed, new Uint8Array(await tarGz(entries)))
  const hashOf = (packed: string, algorithm = 'sha512') =>
    createHash(algorithm)
      .update(archives.get(packed) ?? '')
      .digest('hex')
  const registry: PackageRegistry = { url: '', asked: [], before: undefined, hashOf, stop: async () => await server.stop(true) }
  const describe = (packed: string, version: string) => ({
    version,
    dist: { tarball: `${registry.url}-/${packed}.tgz`, integrity: integrityOf(archives.get(packed) ?? new Uint8Array()) },
  })
  const answer = (path: string): Response => {
    const archive = archives.get(/^-\/(.+)\.tgz$/.exec(path)?.[1] ?? '')
    if (archive !== undefined) return new Response(archive)
    if (path === name) return Response.json({ versions: Object.fromEntries(versions.map((one) => [one, describe(`${name}@${one}`, one)])) })
    const [, packed, version] = /^(.+)\/(\d[^/]*)$/.exec(path) ?? []
    const isThere = packed !== name && archives.has(`${packed}@${version}`)
    return isThere ? Response.json(describe(`${packed}@${version}`, version ?? '')) : new Response('', { status: 404 })
  }
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const path = new URL(request.url).pathname.slice(1)
      registry.asked.push(path)
      return (await registry.before?.(path)) ?? answer(path)
    },
  })
  registry.url = `http://127.0.0.1:${server.port}/`
  return registry
}

const integrityOf = (bytes: Uint8Array): string => `sha512-${createHash('sha512').update(bytes).digest('base64')}`

async function nodeArchive(version: string): Promise<Uint8Array<ArrayBuffer>> {
  const [major, minor, patch] = version.split('.')
  const header = `#define NODE_MAJOR_VERSION ${major}\n#define NODE_MINOR_VERSION ${minor}\n#define NODE_PATCH_VERSION ${patch}\n`
  return new Uint8Array(
    await tarGz([
      { name: 'package/bin/node', mode: 0o755, content: `#!/bin/sh\necho v${version}\n` },
      { name: 'package/include/node/node_version.h', content: header },
    ]),
  )
}

const npmArchive = async (version: string): Promise<Uint8Array<ArrayBuffer>> =>
  new Uint8Array(
    await tarGz([
      { name: 'package/package.json', content: JSON.stringify({ name: 'npm', version }) },
      { name: 'package/bin/npm-cli.js', mode: 0o755, content: `#!/bin/sh\necho ${version}\n` },
      { name: 'package/bin/npx-cli.js', mode: 0o755, content: `#!/bin/sh\necho ${version}\n` },
    ]),
  )
