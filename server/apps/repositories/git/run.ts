/** git, run by us outside of all sandboxes of tenants, as a user who owns nothing but the folder of this one fetch. */
import type { AppError } from '../../../../shared/error.ts'
import { toolCommand } from '../../../platform/process/own-user.ts'
import { type RunResult, runProcess } from '../../../platform/process/spawn.ts'
import type { AppContext } from '../../context.ts'
import { GIT, requireGit } from '../../git/hardened.ts'
import { gitEnvironment, type Remote, secretsOf } from './environment.ts'
import { namesFile } from './folder.ts'
import { gitProblem } from './problem.ts'
import { pinSeen } from './ssh-files.ts'
import { gitUid } from './user.ts'

const MIB = 1024 * 1024
/** Memory of each process: git passes on in pieces what is large, so that this refuses only what is made to fill it. */
const MAX_MEMORY_BYTES = 1024 * MIB
const MAX_CPU_SECONDS = 600
const MAX_DESCRIPTORS = 256
/** Processes of its user, who runs nothing else: a few for each of those fetches that go on at once. */
const MAX_PROCESSES = 256
const MAX_OUTPUT_BYTES = 4 * MIB
const TIMEOUT_MS = 10 * 60_000

export type GitContext = Pick<AppContext, 'db' | 'config'>

export interface GitCall {
  folder: string
  args: readonly string[]
  remote?: Remote
  signal: AbortSignal
}

export function gitCommand({ db, config }: GitContext, { folder, args, remote }: Omit<GitCall, 'signal'>) {
  requireGit()
  const limits = [
    `--fsize=${config.CP_SOURCE_MAX_MB * MIB}`,
    `--as=${MAX_MEMORY_BYTES}`,
    `--cpu=${MAX_CPU_SECONDS}`,
    `--nofile=${MAX_DESCRIPTORS}`,
    `--nproc=${MAX_PROCESSES}`,
    '--core=0',
  ]
  const name = '/usr/bin/prlimit'
  const tool = { programs: folder, uid: gitUid(db), folder, name, args: [...limits, '--', GIT, ...args] }
  const argv = toolCommand({ ...tool, ...(remote?.kind === 'ssh' && { names: namesFile(folder) }) })
  return { name: 'git', argv, env: gitEnvironment(remote) }
}

export async function runGit(context: GitContext, call: GitCall): Promise<string> {
  const { argv, env } = gitCommand(context, call)
  const result = await runProcess(argv, { cwd: '/', env, signal: call.signal, timeoutMs: TIMEOUT_MS, maxOutputBytes: MAX_OUTPUT_BYTES })
  if (call.remote?.kind === 'ssh') await pinSeen(call.folder, call.remote)
  if (result.exitCode === 0) return result.stdout
  throw problemOf(result, call.remote)
}

function problemOf({ stderr, signal }: RunResult, remote: Remote | undefined): AppError {
  const words = signal === 'SIGXFSZ' ? 'File too large' : stderr
  return gitProblem(remote?.url.href, words, remote === undefined ? [] : secretsOf(remote))
}
