import { AppError } from '../../../shared/error.ts'
import type { AppContext } from '../context.ts'

/** The newest program that can run stores here. @throws AppError not_configured where there is none. */
export function currentProgram({ programs }: Pick<AppContext, 'programs'>) {
  const [newest] = programs.available('valkey')
  if (newest === undefined)
    throw new AppError(
      'not_configured',
      'This server has no program for key-value stores. Name a valkey-server or redis-server of version 7.2 or later in CP_VALKEY_PROGRAM.',
    )
  return newest
}
