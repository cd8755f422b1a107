import { AppError } from '../../../shared/error.ts'

const codes: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'SQLITE_FULL'])

/** Whether an error, or what caused it, says that the disk or the share of it that we may use is full. */
export function isDiskFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return ('code' in error && codes.has(error.code)) || isDiskFull(error.cause)
}

export const diskFull = (cause: unknown): AppError =>
  new AppError('unavailable', "The server's disk is full. Free some space on it, then try again.", { cause })
