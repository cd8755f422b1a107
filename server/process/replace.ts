import { AppError } from '../../shared/error.ts'

/**
 * Puts another program into this process: same pid, same parent, same standard streams; every other descriptor is closed, and with it
 * every lock let go. Does not return.
 *
 * @throws AppError `unavailable` when the program cannot be run; this one goes on then.
 */
export function replaceProcess([program = '', ...args]: readonly string[], env: Record<string, string>): never {
  if (process.execve === undefined) throw new AppError('internal', 'This runtime cannot put another program into its process.')
  try {
    return process.execve(program, [program, ...args], env)
  } catch (cause) {
    throw new AppError('unavailable', `${program} cannot be run: ${cause instanceof Error ? cause.message : cause}`, { cause })
  }
}
