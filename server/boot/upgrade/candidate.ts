import { statSync } from 'node:fs'
import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { AppError } from '../../../shared/error.ts'
import { type RunResult, runProcess } from '../../platform/process/spawn.ts'
import { parseVersion } from './rules.ts'

export const CheckReport = Type.Object({
  program: Type.Literal('cpd'),
  version: Type.String(),
  schema: Type.Object({ control: Type.Integer(), logs: Type.Integer() }),
})
export type CheckReport = Static<typeof CheckReport>

const VERSION_TIMEOUT_MS = 15_000
const CHECK_TIMEOUT_MS = 10 * 60_000
const LAST_WORDS = 400

/** The version of an executable, found out by running it. @throws AppError `bad_request` when it is none that runs here. */
export async function versionOf(file: string): Promise<string> {
  const stat = statSync(file, { throwIfNoEntry: false })
  if (stat === undefined || !stat.isFile()) throw new AppError('bad_request', `${file} is no file.`)
  const result = await tryRun(file, ['--version'], VERSION_TIMEOUT_MS)
  const version = result.exitCode === 0 ? parseVersion(result.stdout) : undefined
  if (version === undefined) throw new AppError('bad_request', `${file} is not an executable of cpd: --version ${endOf(result)}.`)
  return version
}

/** Has an executable open copies of the databases in this folder. @throws AppError `bad_request` when it can't. */
export async function checkCandidate(file: string, folder: string): Promise<CheckReport> {
  const result = await tryRun(file, ['upgrade-check', folder], CHECK_TIMEOUT_MS)
  const report = result.exitCode === 0 ? parseReport(result.stdout) : undefined
  if (report === undefined) throw new AppError('bad_request', `${file} cannot work with the databases: upgrade-check ${endOf(result)}.`)
  return report
}

async function tryRun(file: string, args: string[], timeoutMs: number): Promise<RunResult> {
  try {
    return await runProcess([file, ...args], { timeoutMs })
  } catch (cause) {
    throw new AppError('bad_request', `${file} does not run on this machine: ${cause instanceof Error ? cause.message : cause}`, { cause })
  }
}

function parseReport(text: string): CheckReport | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return Value.Check(CheckReport, value) ? value : undefined
  } catch {
    return undefined
  }
}

function endOf({ exitCode, signal, stdout, stderr }: RunResult): string {
  const words = (stderr || stdout).trim().slice(-LAST_WORDS)
  return `ended with ${signal ?? `exit code ${exitCode}`}${words === '' ? '' : ` and said: ${words}`}`
}
