import { AppError } from '../../../../shared/error.ts'
import { runProcess } from '../../../process/spawn.ts'

/** Never the user's PATH: these run as root. */
export const TOOLS_ENV = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' }

/** What a program says to the commands it is given. @throws AppError `unavailable` with its own words when it fails. */
export async function runTool(argv: readonly string[], input = ''): Promise<string> {
  const { exitCode, stdout, stderr } = await runProcess(argv, { env: TOOLS_ENV, input })
  if (exitCode === 0) return stdout
  throw new AppError('unavailable', `${argv.join(' ')} failed: ${stderr.trim().slice(0, 1000) || 'no reason given'}`)
}

/** One command a line, as `ip -batch` and `nft -f` read them. */
export const batchOf = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('')
