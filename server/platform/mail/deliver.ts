import { messageOf } from '../../../shared/error.ts'
import type { ServerLog } from '../server-log.ts'
import type { Mail, Mailer } from './mailer.ts'

/**
 * Sends a mail that something else does not depend on: whether it went out is what it returns, and why not is in the server's log.
 * Neither the text nor the cause is logged, as the text may hold a link that opens something.
 */
export async function deliver({ mailer, log }: { mailer: Mailer; log: ServerLog }, mail: Mail): Promise<boolean> {
  if (!mailer.isConfigured) return false
  try {
    await mailer.send(mail)
    return true
  } catch (error) {
    log.error('mail not sent', { to: mail.to, subject: mail.subject, reason: messageOf(error) })
    return false
  }
}
