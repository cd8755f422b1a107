import { setTimeout as sleep } from 'node:timers/promises'
import type { Transporter } from 'nodemailer'
import { AppError } from '../../../shared/error.ts'
import { isLoopbackHost } from '../network/address.ts'
import type { MailSettings } from './settings.ts'

export interface Mail {
  to: string
  subject: string
  text: string
  headers?: Readonly<Record<string, string>>
}

export interface Mailer {
  readonly isConfigured: boolean
  /** Returns when the server has taken the mail. @throws AppError `not_configured`, or `unavailable` saying what the server said. */
  send(mail: Mail): Promise<void>
}

const STEP_TIMEOUT_MS = 10_000
const SEND_DEADLINE_MS = 20_000

export function createMailer(settings: MailSettings | undefined, deadlineMs = SEND_DEADLINE_MS): Mailer {
  if (settings === undefined) {
    const missing = 'This server sends no mail: the operator configures it with CP_SMTP_URL and CP_SMTP_FROM.'
    return { isConfigured: false, send: async () => Promise.reject(new AppError('not_configured', missing)) }
  }
  const { from } = settings
  let transport: Promise<Transporter> | undefined
  return {
    isConfigured: true,
    async send({ to, subject, text, headers }) {
      // Addresses go in as objects: nothing in them is read as a list or a name.
      const message = { from, to: { name: '', address: to }, subject: oneLine(subject), text, ...(headers && { headers: { ...headers } }) }
      transport ??= openTransport(settings)
      const isSent = await inTime(
        transport.then((opened) => opened.sendMail(message)),
        deadlineMs,
      ).catch(refused)
      if (!isSent) throw new AppError('unavailable', `The mail server took longer than ${deadlineMs / 1000} seconds.`)
    },
  }
}

/** The library takes 8 MB of memory, so it is loaded with the first mail. */
async function openTransport(settings: MailSettings): Promise<Transporter> {
  const { createTransport } = await import('nodemailer')
  return createTransport(transportOptions(settings))
}

function transportOptions({ server: { host, port, isTlsFromStart, login } }: MailSettings) {
  // On the machine itself nobody stands between us and the server, and its certificate is seldom one that the world trusts.
  const isLocal = isLoopbackHost(host)
  return {
    host,
    port,
    secure: isTlsFromStart,
    // STARTTLS is used wherever it is offered. Who cuts the offer out must not get the password.
    requireTLS: login !== undefined && !isLocal,
    tls: { rejectUnauthorized: !isLocal },
    ...(login !== undefined && { auth: { user: login.user, pass: login.password } }),
    connectionTimeout: STEP_TIMEOUT_MS,
    greetingTimeout: STEP_TIMEOUT_MS,
    dnsTimeout: STEP_TIMEOUT_MS,
    socketTimeout: STEP_TIMEOUT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  }
}

const oneLine = (text: string): string => text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim()

async function inTime(work: Promise<unknown>, deadlineMs: number): Promise<boolean> {
  const timer = new AbortController()
  const late = sleep(deadlineMs, false, { signal: timer.signal, ref: false }).catch(() => false)
  return await Promise.race([work.then(() => true), late]).finally(() => timer.abort())
}

function refused(cause: unknown): never {
  const said = cause instanceof Error ? cause.message : 'no reason given'
  throw new AppError('unavailable', `The mail server did not take the mail: ${oneLine(said)}`, { cause })
}
