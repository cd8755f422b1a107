import { AppError } from '../../../shared/error.ts'
import { createLeases } from '../../platform/work/leases.ts'

/** Each subscription takes some 70 KB, and time of every line. */
const MAX_OF_CREDENTIAL = 25
const MAX_OF_WORKSPACE = 100
const MAX_OF_SERVER = 500
const RETRY_AFTER_SECONDS = 10

export interface Follower {
  id: string
  type: string
  workspaceId: string
}

/** Counts who follows logs. @throws AppError rate_limited when the credential, its workspace or the server has as many as it may. */
export function createSubscriptionLimits(): (follower: Follower) => () => void {
  const ofCredential = createLeases()
  const ofWorkspace = createLeases()
  return ({ type, id, workspaceId }) => {
    const credential = `${type} ${id}`
    if (ofCredential.countOf(credential) >= MAX_OF_CREDENTIAL) throw tooMany('This credential follows', MAX_OF_CREDENTIAL)
    if (ofWorkspace.countOf(workspaceId) >= MAX_OF_WORKSPACE) throw tooMany('This workspace follows', MAX_OF_WORKSPACE)
    if (ofWorkspace.total() >= MAX_OF_SERVER) throw tooMany('Clients of this server follow', MAX_OF_SERVER)
    const gives = [ofCredential.take(credential), ofWorkspace.take(workspaceId)]
    return () => {
      for (const giveBack of gives) giveBack()
    }
  }
}

const tooMany = (who: string, max: number): AppError =>
  new AppError('rate_limited', `${who} logs ${max} times at once already, which is the most. Close one; one may follow many services.`, {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  })
