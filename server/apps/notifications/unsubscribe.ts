import { AppError } from '../../../shared/error.ts'
import type { Sealer } from '../../platform/secrets/seal.ts'

const PURPOSE = 'notifications-unsubscribe'

interface Subscription {
  userId: string
  workspaceId: string
}

/** What stands in the link of a mail: only this server can make it, and it says whose mail of which workspace is to end. */
export const unsubscribeToken = ({ seal }: Pick<Sealer, 'seal'>, { userId, workspaceId }: Subscription): string =>
  Buffer.from(seal(`${userId} ${workspaceId}`, PURPOSE)).toString('base64url')

export function subscriptionOf({ open }: Pick<Sealer, 'open'>, token: string): Subscription {
  try {
    const [userId = '', workspaceId = ''] = open(Buffer.from(token, 'base64url').toString(), PURPOSE).split(' ')
    return { userId, workspaceId }
  } catch (cause) {
    throw new AppError('not_found', 'This link is not one of a mail of this server. Copy the whole of it.', { cause })
  }
}
