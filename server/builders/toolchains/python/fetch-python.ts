import { chown, mkdir, rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { chownTree } from '../../../platform/files/tree/chown.ts'
import { toolCommand } from '../../../platform/process/own-user.ts'
import { runProcess } from '../../../platform/process/spawn.ts'
import { SYSTEM_PATH } from '../../../platform/process/system-tools.ts'
import { isRoot } from '../../../platform/service-folders.ts'
import type { Providing } from '../providing.ts'
import { Unfetched } from '../registry/download.ts'
import { uvSettings } from '../uv/uv-settings.ts'

const MIB = 1024 * 1024
/** Python 3.13 has 30 MB packed, 110 MB unpacked. */
export const MOST_PYTHON_BYTES = 512 * MIB

const LIMITS = [`--fsize=${MOST_PYTHON_BYTES}`, '--cpu=600', '--nofile=1024', '--core=0']
const TIMEOUT_MS = 10 * 60_000

export interface PythonFetch extends Pick<Providing, 'env' | 'signal' | 'log'> {
  /** The folder with the uv that fetches, and the user as whom it does. */
  uv: string
  uid: number
}

/** Has uv lay out a release of Python, whose hash it knows itself. @throws Unfetched in its words; the signal's reason when aborted. */
export async function fetchPython(into: string, version: string, { uv, uid, env, signal, log }: PythonFetch): Promise<void> {
  const folder = join(dirname(into), 'by-uv')
  await mkdir(folder, { mode: 0o700 })
  if (isRoot) await chown(folder, uid, uid)
  log(`==> Fetching Python ${version} by uv`)
  const places = ['--install-dir', join(folder, 'pythons'), '--cache-dir', join(folder, 'cache')]
  const program = ['--', join(uv, 'bin/uv'), 'python', 'install', '--no-bin', '--no-config', ...places, `cpython-${version}`]
  const argv = toolCommand({ programs: uv, uid, folder, name: '/usr/bin/prlimit', args: [...LIMITS, ...program] })
  const { exitCode, stderr } = await runProcess(argv, { cwd: '/', env: environmentOf(env), signal, timeoutMs: TIMEOUT_MS })
  signal.throwIfAborted()
  if (exitCode !== 0) throw new Unfetched(lastWords(stderr))
  const made = join(folder, 'pythons', `cpython-${version}-linux-${architecture}-gnu`)
  if (isRoot) await chownTree(folder, 0, 0)
  await rename(made, into)
}

const architecture = process.arch === 'arm64' ? 'aarch64' : 'x86_64'

const HANDED_ON = /^(UV_PYTHON_.*|UV_HTTP_TIMEOUT|SSL_CERT_(FILE|DIR)|(ALL|HTTPS?|NO)_PROXY|(all|https?|no)_proxy)$/

const environmentOf = (env: Providing['env']): Record<string, string> => ({
  ...Object.fromEntries(Object.entries({ ...uvSettings(env), ...env }).filter(([name]) => HANDED_ON.test(name))),
  ...{ PATH: SYSTEM_PATH, LC_ALL: 'C', HOME: '/nonexistent', UV_NO_PROGRESS: '1', UV_HTTP_RETRIES: '1' },
})

const MAX_WORDS = 400

/** What could not be downloaded, and why at the bottom of it, which stands last. */
function lastWords(stderr: string): string {
  const lines = stderr.split('\n').flatMap((line) => line.replace(/^\s*(error|cause):\s*/i, '').trim() || [])
  const [what, why] = [lines.find((line) => line.startsWith('Failed to download')), lines.at(-1) ?? 'it said nothing']
  return (what === undefined || what === why ? why : `${what}: ${why}`).slice(0, MAX_WORDS)
}
