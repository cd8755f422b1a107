import { type DiskInput, defaultSizeGb } from '../../shared/disk.ts'
import { usageError } from '../base/error.ts'

/** A disk given as `name:/path` or `name:/path:10`, in GB. @throws CliError with the usage exit code. */
export function parseDisk(text: string): Required<DiskInput> {
  const [, name, mountPath, size] = /^([^:]+):(\/[^:]*)(?::(\d+))?$/.exec(text) ?? []
  if (name === undefined || mountPath === undefined)
    throw usageError(`${text} is no disk.`, 'Give its name, mount path and size in GB, such as data:/var/data:10.')
  return { name, mountPath, sizeGB: size === undefined ? defaultSizeGb : Number(size) }
}
