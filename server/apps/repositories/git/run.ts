/** git, run by us outside of all sandboxes of tenants, as a user who owns nothing but the folder of this one fetch. */
import { existsSync } from 'node:fs'
import { AppError } from '../../../../shared/error.ts'
import { toolCommand } from '../../../platform/process/own-user.ts'
import { type RunResult, runProcess } from '../../../platform/process/spawn.ts'
import type { AppContext } from '../../context.ts'
import { gitEnvironment, type Remote, secretsOf } from './environment.ts'
import { gitProblem } from './problem.ts'
import { gitUid } from './user.ts'

const GIT = '/usr/bin/git'
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
  /** The folder that git has. */
  folder: string
  args: readonly string[]
  /** Where it is sent to; absent for what it does here. */
  remote?: Remote
  signal: AbortSignal
}

/** What is to be started, and with which environment. @throws AppError unavailable where the machine has no git. */
export function gitCommand({ db, config }: GitContext, { folder, args, remote }: Omit<GitCall, 'signal'>) {
  if (!existsSync(GIT))
    throw new AppError(
      'unavailable',
      'Repositories are fetched by git, which this server lacks. Its operator can have it with `apt-get install git`.',
    )
  const limits = [
    `--fsize=${config.CP_SOURCE_MAX_MB * MIB}`,
    `--as=${MAX_MEMORY_BYTES}`,
    `--cpu=${MAX_CPU_SECONDS}`,
    `--nofile=${MAX_DESCRIPTORS}`,
    `--nproc=${MAX_PROCESSES}`,
    '--core=0',
  ]
  const name = '/usr/bin/prlimit'
  const argv = toolCommand({ programs: folder, uid: gitUid(db), folder, name, args: [...limits, '--', GIT, ...args] })
  return { name: 'git', argv, env: gitEnvironment(remote) }
}

/** Runs git to its end and returns what it printed. @throws AppError saying what to do, never with a credential; the signal's reason. */
export async function runGit(context: GitContext, call: GitCall): Promise<string> {
  const { argv, env } = gitCommand(context, call)
  const result = await runProcess(argv, { cwd: '/', env, signal: call.signal, timeoutMs: TIMEOUT_MS, maxOutputBytes: MAX_OUTPUT_BYTES })
  if (result.exitCode === 0) return result.stdout
  throw problemOf(result, call.remote)
}

function problemOf({ stderr, signal }: RunResult, remote: Remote | undefined): AppError {
  const words = signal === 'SIGXFSZ' ? 'File too large' : stderr
  return gitProblem(remote?.url.href, words, remote === undefined ? [] : secretsOf(remote))
}
