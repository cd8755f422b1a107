import { environment } from '../base/config.ts'
import { CliError } from '../base/error.ts'

interface Said {
  exitCode: number
  stdout: string
  stderr: string
}

/** Runs the machine's git in a folder; a code that is not 0 is an answer. @throws CliError where there is no git. */
export async function askGit(folder: string, args: readonly string[]): Promise<Said> {
  const program = Bun.which('git')
  if (program === null)
    throw new CliError('not_configured', 'This machine has no git.', { hint: 'Install it, or deploy with cpctl deploy, which needs none.' })
  const child = Bun.spawn([program, ...args], { cwd: folder, env: environment(), stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' })
  const [stdout, stderr, exitCode] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
  return { exitCode, stdout: stdout.trim(), stderr: stderr.trim() }
}

export async function runGit(folder: string, args: readonly string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await askGit(folder, args)
  if (exitCode === 0) return stdout
  throw new CliError('internal', `git ${args[0]} failed: ${stderr || `it ended with ${exitCode}`}`)
}
