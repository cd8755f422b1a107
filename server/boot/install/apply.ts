import { constants } from 'node:fs'
import { chmod, copyFile, mkdir, readFile, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { AppError } from '../../../shared/error.ts'
import { replaceFile } from '../../platform/files/replace-file.ts'
import { runProcess } from '../../platform/process/spawn.ts'
import type { Step } from './plan.ts'

const EXECUTABLE_MODE = 0o755
const RUN_TIMEOUT_MS = 120_000

/** Does one step. Returns whether anything has changed. @throws AppError `unavailable` or `conflict` saying what stands in the way. */
export async function applyStep(
  step: Step,
  { isForced, environment }: { isForced: boolean; environment: Record<string, string> },
): Promise<boolean> {
  switch (step.kind) {
    case 'folder':
      return makeFolder(step)
    case 'file':
      return writeIfOther(step)
    case 'executable':
      return copyExecutable(step, isForced)
    case 'run':
      return run(step.argv, environment)
    case 'remove':
      await rm(step.path, { force: true })
      return true
  }
}

async function makeFolder({ path, mode, owner }: Extract<Step, { kind: 'folder' }>): Promise<boolean> {
  const made = await mkdir(path, { recursive: true })
  await chmod(path, mode)
  if (owner !== undefined) await run(['chown', owner, '--', path], {})
  return made !== undefined
}

async function writeIfOther({ path, mode, content }: Extract<Step, { kind: 'file' }>): Promise<boolean> {
  const held = await readFile(path, 'utf8').catch(() => undefined)
  await mkdir(dirname(path), { recursive: true })
  if (held === content) await chmod(path, mode)
  else await replaceFile(path, content, { mode })
  return held !== content
}

async function copyExecutable({ path, from }: Extract<Step, { kind: 'executable' }>, isForced: boolean): Promise<boolean> {
  const [held, wanted] = await Promise.all([readFile(path).catch(() => undefined), readFile(from)])
  if (held?.equals(wanted)) return false
  if (held !== undefined && !isForced) {
    throw new AppError(
      'conflict',
      `${path} is another cpd already. Replace it with \`cpd upgrade ${from}\`, which loses no request, or by force with --force.`,
    )
  }
  await mkdir(dirname(path), { recursive: true })
  await copyFile(from, `${path}.new`, constants.COPYFILE_FICLONE)
  await chmod(`${path}.new`, EXECUTABLE_MODE)
  await rename(`${path}.new`, path)
  return true
}

async function run(argv: readonly string[], environment: Record<string, string>): Promise<boolean> {
  const { exitCode, stderr } = await runProcess(argv, { timeoutMs: RUN_TIMEOUT_MS, env: environment })
  if (exitCode !== 0) throw new AppError('unavailable', `${argv.join(' ')} failed: ${stderr.trim() || `exit code ${exitCode}`}`)
  return true
}
