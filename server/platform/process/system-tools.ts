import { AppError } from '../../../shared/error.ts'
import { diskFull } from '../files/disk-full.ts'
import { type RunOptions, runProcess } from './spawn.ts'

/** The user's PATH is never asked: some of these tools run as root. */
export const SYSTEM_PATH = '/usr/sbin:/usr/bin:/sbin:/bin'

export const systemEnv = { PATH: SYSTEM_PATH, LC_ALL: 'C' }

export interface ToolOptions extends Omit<RunOptions, 'env'> {
  accepted?: readonly number[]
}

const MAX_WORDS = 1000

/** Runs a tool of the system and returns what it printed. @throws AppError `unavailable` in the tool's own words when it fails. */
export async function runSystemTool(argv: readonly string[], { accepted = [0], ...options }: ToolOptions = {}): Promise<string> {
  const { exitCode, signal, stdout, stderr } = await runProcess(argv, { ...options, env: systemEnv })
  if (exitCode !== null && accepted.includes(exitCode)) return stdout
  const words = (stderr.trim() || stdout.trim()).slice(0, MAX_WORDS) || `it ended with ${signal ?? `code ${exitCode}`}`
  if (/No space left on device/.test(words)) throw diskFull(new Error(words))
  throw new AppError('unavailable', `${argv[0]} failed: ${words}`, { cause: new Error(argv.join(' ')) })
}
