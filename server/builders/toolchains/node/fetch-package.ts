import { readdir, rename, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { extractIsolated } from '../../../platform/archives/isolated.ts'
import { DEFAULT_EXTRACT_LIMITS } from '../../../platform/archives/rules.ts'
import { ensureFolder } from '../../../platform/service-folders.ts'
import { download, type Fetching, Unfetched } from '../registry/download.ts'
import type { Dist } from '../registry/npm-registry.ts'
import { npmWay } from '../registry/way.ts'

const MIB = 1024 * 1024

/** Node.js has 52 MB packed, 187 MB unpacked, in three thousand files. */
const MOST_PACKED_BYTES = 128 * MIB
const MOST_UNPACKED_BYTES = 384 * MIB
const LIMITS = { ...DEFAULT_EXTRACT_LIMITS, maxBytes: MOST_UNPACKED_BYTES, maxFiles: 20_000 }

export const MOST_PACKAGE_BYTES = MOST_PACKED_BYTES + MOST_UNPACKED_BYTES

const ARCHIVE = 'archive.tgz'

export interface PackageFetch extends Fetching {
  dist: Dist
  log(line: string): void
  /** Looks at what came before anything is made of it. @throws whatever is wrong with it. */
  check?(archive: string): Promise<void>
}

export async function fetchPackage(into: string, { dist, log, env, signal, check }: PackageFetch): Promise<void> {
  const [archive, unpacked] = [join(dirname(into), ARCHIVE), join(dirname(into), 'unpacked')]
  const { tarball, integrity } = dist
  await download(new URL(tarball), { into: archive, integrity, mostBytes: MOST_PACKED_BYTES, way: npmWay(env), signal, log })
  await check?.(archive)
  await extractIsolated({ path: archive, format: 'tar.gz', into: unpacked, limits: LIMITS, signal })
  const [folder, ...others] = await readdir(unpacked)
  if (folder === undefined || others.length > 0) throw new Unfetched(`${tarball} is no package of npm`)
  await rename(join(unpacked, folder), into)
}

/** Lays npm out as it stands beside a Node.js, with `npm` and `npx` among the programs. */
export async function fetchNpm(into: string, options: PackageFetch): Promise<void> {
  const modules = join(into, 'lib/node_modules')
  for (const folder of [into, join(into, 'bin'), join(into, 'lib'), modules]) await ensureFolder(folder, 0o755, { uid: 0, gid: 0 })
  await fetchPackage(join(dirname(into), 'npm'), options)
  await rename(join(dirname(into), 'npm'), join(modules, 'npm'))
  for (const name of ['npm', 'npx']) await symlink(`../lib/node_modules/npm/bin/${name}-cli.js`, join(into, 'bin', name))
}
