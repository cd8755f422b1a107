import { AppError } from '../../../shared/error.ts'

export interface HelpCase {
  isOperator: boolean
  isSelf: boolean
  isElsewhere: boolean
  isMailConfigured: boolean
}

export type LinkWay = 'shown' | 'mailed'

/**
 * A link to set a password is the account: an administrator sees that of a member of this workspace only, and nobody their own, because a
 * stolen session would be enough. The operator can write the database anyway. @throws AppError `conflict` without a mail server.
 */
export function linkWayOf({ isOperator, isSelf, isElsewhere, isMailConfigured }: HelpCase): LinkWay {
  if (isOperator || !(isSelf || isElsewhere)) return 'shown'
  if (isMailConfigured) return 'mailed'
  const otherwise = isSelf
    ? 'Change your own password with the present one, POST /v1/auth/password, or ask another administrator.'
    : `This account belongs to other workspaces as well, so the link may only go to its own mailbox, and this server sends no mail. ${askOperator}`
  throw new AppError('conflict', otherwise)
}

/** The second factor goes by the same rule, without the mailbox as a way out. @throws AppError `conflict` saying what to do instead. */
export function refuseForeignTwoFactor({ isOperator, isSelf, isElsewhere }: Omit<HelpCase, 'isMailConfigured'>): void {
  if (isOperator || !(isSelf || isElsewhere)) return
  const otherwise = isSelf
    ? 'Switch your own second factor off with your password and a code or recovery code: DELETE /v1/auth/two-factor.'
    : `This account belongs to other workspaces as well, so its second factor is not this workspace's to switch off. A recovery code lets its owner in. ${askOperator}`
  throw new AppError('conflict', otherwise)
}

const askOperator = 'The operator of the server can help, with the static token.'
