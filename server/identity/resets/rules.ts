import { AppError } from '../../../shared/error.ts'

/** What decides how far somebody may help a member back in. */
export interface HelpCase {
  /** The static token: whoever holds it runs the machine. */
  isOperator: boolean
  /** The member is the caller. */
  isSelf: boolean
  /** The member's account belongs to other workspaces as well. */
  isElsewhere: boolean
  isMailConfigured: boolean
}

/** Who gets the link: the caller, or the account's mailbox alone. */
export type LinkWay = 'shown' | 'mailed'

/**
 * A link to set a password is the account. An administrator gets that of a member whose account is in this workspace only, where they may
 * do all that the account may. An account that is in other workspaces too is none of theirs: the link goes to its mailbox. So does their
 * own, because otherwise a stolen session would be enough to take the account. The operator gets every member's link: the static token is
 * set on the machine, by somebody who can read and write its database, and it is what is left when everybody is locked out.
 *
 * @throws AppError `conflict` where the link could only be mailed and no mail server is configured.
 */
export function linkWayOf({ isOperator, isSelf, isElsewhere, isMailConfigured }: HelpCase): LinkWay {
  if (isOperator || !(isSelf || isElsewhere)) return 'shown'
  if (isMailConfigured) return 'mailed'
  const otherwise = isSelf
    ? 'Change your own password with the present one, POST /v1/auth/password, or ask another administrator.'
    : `This account belongs to other workspaces as well, so the link may only go to its own mailbox, and this server sends no mail. ${askOperator}`
  throw new AppError('conflict', otherwise)
}

/**
 * Who may switch a member's second factor off: under the same rule, without the mailbox as a way out.
 *
 * @throws AppError `conflict` saying what to do instead.
 */
export function refuseForeignTwoFactor({ isOperator, isSelf, isElsewhere }: Omit<HelpCase, 'isMailConfigured'>): void {
  if (isOperator || !(isSelf || isElsewhere)) return
  const otherwise = isSelf
    ? 'Switch your own second factor off with your password and a code or recovery code: DELETE /v1/auth/two-factor.'
    : `This account belongs to other workspaces as well, so its second factor is not this workspace's to switch off. A recovery code lets its owner in. ${askOperator}`
  throw new AppError('conflict', otherwise)
}

const askOperator = 'The operator of the server can help, with the static token.'
