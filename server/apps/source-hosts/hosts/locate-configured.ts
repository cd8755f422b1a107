import { AppError } from '../../../../shared/error.ts'
import { type Located, locate } from './credential.ts'
import type { HostContext } from './open.ts'

/** The installation that a repository's URL belongs to, or undefined where there is none or settings lead elsewhere by now: there is nobody to ask. */
export function locateConfigured(context: HostContext, workspaceId: string, url: string): Located | undefined {
  try {
    return locate(context, workspaceId, url)
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_configured') return undefined
    throw error
  }
}
