import { chmod, copyFile, readdir, rename } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { extractIsolated } from '../../../platform/archives/isolated.ts'
import { DEFAULT_EXTRACT_LIMITS } from '../../../platform/archives/rules.ts'
import type { Providing } from '../providing.ts'
import { fetchFile, Unfetched } from '../registry/download.ts'
import { fromSources, goWay } from '../registry/go-proxies.ts'
import { lookUpHash, Unreachable } from '../sumdb/lookup.ts'
import { sumDbFor } from '../sumdb/settings.ts'
import { moduleHash } from './module-hash.ts'

const MODULE = 'golang.org/toolchain'
export const GO_MODULE_LIST = `${MODULE}/@v/list`

const architecture: Partial<Record<NodeJS.Architecture, string>> = { x64: 'amd64', arm64: 'arm64' }
const SUFFIX = `.linux-${architecture[process.arch]}`
const PREFIX = 'v0.0.1-go'

/** The version of Go that a version of the module holds; undefined for other systems. */
export const goVersionIn = (moduleVersion: string): string | undefined =>
  moduleVersion.startsWith(PREFIX) && moduleVersion.endsWith(SUFFIX) ? moduleVersion.slice(PREFIX.length, -SUFFIX.length) : undefined

const MIB = 1024 * 1024
/** Go 1.24 has 83 MB packed, 236 MB unpacked, in eleven thousand files. */
const MOST_PACKED_BYTES = 144 * MIB
const MOST_UNPACKED_BYTES = 368 * MIB
const LIMITS = { ...DEFAULT_EXTRACT_LIMITS, maxBytes: MOST_UNPACKED_BYTES, maxFiles: 40_000 }

export const MOST_GO_BYTES = MOST_PACKED_BYTES + MOST_UNPACKED_BYTES

type GoFetch = Pick<Providing, 'env' | 'signal' | 'log'>

/** Lays out a release of Go as `go` does it with those that it fetches itself (https://go.dev/doc/toolchain). */
export async function fetchGo(into: string, version: string, fetching: GoFetch): Promise<void> {
  const { env, signal, log } = fetching
  const module = { path: MODULE, version: `${PREFIX}${version}${SUFFIX}` }
  const [archive, unpacked] = [join(dirname(into), 'archive.zip'), join(dirname(into), 'unpacked')]
  await fromSources(env, async (base) => {
    const url = new URL(`${base}/${MODULE}/@v/${module.version}.zip`)
    log(`==> Fetching Go ${version} from ${url.host}`)
    await fetchFile(url, { into: archive, mostBytes: MOST_PACKED_BYTES, way: goWay(env), signal, log })
  })
  await extractIsolated({ path: archive, format: 'zip', into: unpacked, limits: LIMITS, signal })
  await requireHash(await moduleHash(unpacked, signal), module, fetching)
  await rename(join(unpacked, `${MODULE}@${module.version}`), into)
  await makeUsable(into)
}

async function requireHash(hash: string, module: { path: string; version: string }, { env, signal, log }: GoFetch): Promise<void> {
  const db = sumDbFor(module.path, env)
  if (db === undefined) return log('    Its hash is not looked up: the settings of this server turn the checksum database off.')
  try {
    const known = await lookUpHash(db, module, { env, signal })
    if (known !== hash) throw new Unfetched(`what came is not what the checksum database ${db.name} knows`)
    log(`    Its hash is the one that ${db.name} has.`)
  } catch (error) {
    if (!(error instanceof Unreachable)) throw error
    log(`    Warning: its hash could not be looked up, as ${db.name} is out of reach (${error.message}).`)
  }
}

/** Zips of modules hold no modes, and no files by the name go.mod. */
async function makeUsable(root: string): Promise<void> {
  for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const path = join(entry.parentPath, entry.name)
    const isProgram = entry.parentPath === join(root, 'bin') || dirname(entry.parentPath) === join(root, 'pkg/tool')
    if (isProgram) await chmod(path, 0o755)
    if (basename(path) === '_go.mod') await copyFile(path, join(entry.parentPath, 'go.mod'))
  }
}
