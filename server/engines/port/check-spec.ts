import { AppError } from '../../../shared/error.ts'
import type { InstanceSpec, TaskSpec } from './port.ts'

/** Ids become names of folders and control groups. */
const ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/
const ENV_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/

type AnySpec = Pick<InstanceSpec, 'command' | 'cwd' | 'env' | 'sandbox' | 'limits'> &
  Partial<Pick<InstanceSpec & TaskSpec, 'instanceId' | 'taskId'>>

/**
 * Refuses what would be cut, lost or misread on the way to the process.
 *
 * @throws AppError `validation_failed` naming the field.
 */
export function checkSpec(spec: AnySpec): void {
  for (const id of [spec.instanceId ?? spec.taskId ?? '', spec.sandbox.serviceId]) {
    if (!ID.test(id)) throw new AppError('validation_failed', `"${id}" cannot be the id of a workload or service`)
  }
  for (const [name, value] of Object.entries(spec.env)) {
    if (!ENV_NAME.test(name)) throw new AppError('validation_failed', `"${name}" cannot be the name of an environment variable`)
    if (value.includes('\0')) throw new AppError('validation_failed', `The value of ${name} holds a NUL character`)
  }
  if (spec.command.trim() === '' || spec.command.includes('\0'))
    throw new AppError('validation_failed', 'The command is empty or holds a NUL character')
  const { cpu, memoryBytes, pids } = spec.limits
  if (!(cpu > 0 && memoryBytes > 0 && pids > 0)) throw new AppError('validation_failed', 'Limits must be above zero')
  if (spec.sandbox.uid === 0 || spec.sandbox.gid === 0) throw new AppError('validation_failed', 'A service cannot run as root')
}
