import { AppError } from '../../../../shared/error.ts'
import type { AppContext } from '../../context.ts'
import type { StoredService } from '../../services/store.ts'
import type { Found } from './plan.ts'

type Explained = Exclude<Found, { kind: 'at' | 'gone' }>

/** Why a service's repository was not reached: by the word of its host where that has one, which is plainer than git's. @throws what no AppError is; the signal's reason. */
export async function explain(
  { whereabouts }: Pick<AppContext, 'whereabouts'>,
  { workspaceId, labels }: Pick<StoredService, 'workspaceId' | 'labels'>,
  { error, signal }: { error: unknown; signal: AbortSignal },
): Promise<Explained> {
  signal.throwIfAborted()
  if (!(error instanceof AppError)) throw error
  const found = await whereabouts({ workspaceId, url: labels.repo }, signal)
  return found?.kind === 'renamed' ? found : { kind: 'unreachable', problem: found?.problem ?? error.message }
}
