import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { DEFAULT_TOOLCHAIN_PATH } from '../../server/builders/toolchains/toolchains.ts'
import { runProcess } from '../../server/platform/process/spawn.ts'

/** What the sample app needs of Go's own library, to compile which takes half a minute of a processor. */
const PACKAGES = ['net/http', 'crypto/md5', 'crypto/sha1', 'database/sql/driver']
const TIMEOUT_MS = 300_000
const PATH = DEFAULT_TOOLCHAIN_PATH.join(':')

/** Lays what an earlier build of any app would have left into a new cache of Go's. Every user may write there, as the build's has no number yet. */
export async function warmGoCache(into: string): Promise<void> {
  const kept = await keptCache()
  await mkdir(dirname(into), { recursive: true })
  await succeed(['cp', '-r', kept, into])
  await succeed(['chmod', '-R', 'a+rwX', into])
}

/** Outside of the checkout, as the programs of databases are. */
async function keptCache(): Promise<string> {
  const version = (await succeed(['go', 'env', 'GOVERSION'])).trim()
  const folder = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'cpd-tests')
  const kept = join(folder, `go-build-${version}`)
  if (existsSync(kept)) return kept
  await mkdir(folder, { recursive: true })
  const fresh = await mkdtemp(`${kept}-`)
  await succeed(['go', 'build', ...PACKAGES], { HOME: fresh, GOCACHE: join(fresh, 'cache') })
  // Another worker may have been faster.
  await rename(join(fresh, 'cache'), kept).catch(() => undefined)
  await rm(fresh, { recursive: true, force: true })
  return kept
}

async function succeed(argv: string[], env: Record<string, string> = {}): Promise<string> {
  const { exitCode, stdout, stderr } = await runProcess(argv, { env: { PATH, HOME: homedir(), ...env }, timeoutMs: TIMEOUT_MS })
  if (exitCode !== 0) throw new Error(`${argv[0]} failed: ${stderr}`)
  return stdout
}
