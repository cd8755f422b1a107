import { AppError } from '../../shared/error.ts'
import { diskFull } from '../files/disk-full.ts'
import { type RunOptions, runProcess } from '../process/spawn.ts'

/** Where the system's tools are. */
export const toolsEnv = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LANG: 'C' }

/** A disk of many gigabytes is checked and copied in minutes. */
const TOOL_TIMEOUT_MS = 30 * 60_000

/**
 * Runs a tool of the system to its end.
 *
 * @param accepted exit codes that are no failure.
 * @throws AppError `unavailable` with its own words when it fails, and those of a full disk when that is the reason.
 */
export async function runTool(
  argv: readonly string[],
  { accepted = [0], ...options }: RunOptions & { accepted?: readonly number[] } = {},
): Promise<string> {
  const { exitCode, signal, stdout, stderr } = await runProcess(argv, { env: toolsEnv, timeoutMs: TOOL_TIMEOUT_MS, ...options })
  if (exitCode !== null && accepted.includes(exitCode)) return stdout
  const words = stderr.trim() || stdout.trim() || `it ended with ${signal ?? `code ${exitCode}`}`
  if (/No space left on device/.test(words)) throw diskFull(new Error(words))
  throw new AppError('unavailable', `${argv[0]} failed: ${words}`)
}
