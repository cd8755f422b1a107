import { AppError } from '../../../shared/error.ts'
import { createThrottle } from '../throttle/throttle.ts'

export const MAX_MAILS_OF_WORKSPACE = 50
export const MAX_MAILS_TO_ADDRESS = 5

export type MailLimit = (workspaceId: string, email: string) => boolean

/** Where anybody may register, invites are not to become letters to strangers in the operator's name. */
export function createMailLimit(now: () => number): MailLimit {
  const ofWorkspace = createThrottle(MAX_MAILS_OF_WORKSPACE, now)
  const toAddress = createThrottle(MAX_MAILS_TO_ADDRESS, now)
  return (workspaceId, email) => {
    try {
      toAddress.begin([email.toLowerCase()])
      ofWorkspace.begin([workspaceId])
      return true
    } catch (error) {
      if (error instanceof AppError && error.code === 'rate_limited') return false
      throw error
    }
  }
}
