import { AppError } from '../../../shared/error.ts'
import type { Limits } from './workload.ts'

/** Ids become names of folders and control groups, or of whatever else an engine has. */
const ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/
const ENV_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/

/** Whether engines can use an id as a name as it stands. */
export const isPlainId = (id: string): boolean => ID.test(id)

/** @throws AppError `validation_failed` for an id or key that could lead elsewhere. */
export function checkPlainId(id: string): void {
  if (!isPlainId(id)) throw new AppError('validation_failed', `"${id}" cannot be the id of a volume or snapshot`)
}

interface Checked {
  ids: readonly string[]
  command: string
  env: Record<string, string>
  limits: Limits
}

/** Refuses what would be cut, lost or misread on the way to the process. @throws AppError `validation_failed` naming the field. */
export function checkSpec({ ids, command, env, limits }: Checked): void {
  for (const id of ids) {
    if (!isPlainId(id)) throw new AppError('validation_failed', `"${id}" cannot be the id of a workload or service`)
  }
  for (const [name, value] of Object.entries(env)) {
    if (!ENV_NAME.test(name)) throw new AppError('validation_failed', `"${name}" cannot be the name of an environment variable`)
    if (value.includes('\0')) throw new AppError('validation_failed', `The value of ${name} holds a NUL character`)
  }
  if (command.trim() === '' || command.includes('\0'))
    throw new AppError('validation_failed', 'The command is empty or holds a NUL character')
  const { cpu, memoryBytes, pids } = limits
  if (!(cpu > 0 && memoryBytes > 0 && pids > 0)) throw new AppError('validation_failed', 'Limits must be above zero')
}
