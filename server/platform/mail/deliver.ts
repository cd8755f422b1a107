import { messageOf } from '../../../shared/error.ts'
import type { ServerLog } from '../server-log.ts'
import type { Mail, Mailer } from './mailer.ts'

/** Sends a mail that nothing depends on. Neither text nor cause is logged, as the text may hold a link that opens something. */
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
