import { AppError } from '../../../../shared/error.ts'
import type { AppContext } from '../../context.ts'
import type { StoredService } from '../../services/store.ts'
import type { Found } from './plan.ts'
import { redirectOf } from './redirect.ts'

type Explained = Exclude<Found, { kind: 'at' | 'gone' }>

/** Why a service's repository was not reached: by the word of its host where that has one, which is plainer than git's. @throws what no AppError is; the signal's reason. */
export async function explain(
  context: Pick<AppContext, 'config' | 'lookup' | 'whereabouts'>,
  { workspaceId, labels }: Pick<StoredService, 'workspaceId' | 'labels'>,
  { error, signal }: { error: unknown; signal: AbortSignal },
): Promise<Explained> {
  signal.throwIfAborted()
  if (!(error instanceof AppError)) throw error
  const found = await context.whereabouts({ workspaceId, url: labels.repo }, signal)
  if (found?.kind === 'renamed') return found
  const url = found === undefined ? await redirectOf(context, labels.repo, signal) : undefined
  return url === undefined ? { kind: 'unreachable', problem: found?.problem ?? error.message } : { kind: 'renamed', url }
}
