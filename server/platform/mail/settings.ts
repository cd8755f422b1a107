import { Value } from '@sinclair/typebox/value'
import { Email } from '../../../shared/auth.ts'
import { AppError } from '../../../shared/error.ts'
import { visibleChar } from '../../../shared/schema.ts'

export interface SmtpServer {
  host: string
  port: number
  /** TLS from the first byte; else the connection is upgraded where the server offers it. */
  isTlsFromStart: boolean
  login: { user: string; password: string } | undefined
}

export interface Sender {
  name: string
  address: string
}

export interface MailSettings {
  server: SmtpServer
  from: Sender
}

const defaultPorts = { 'smtp:': 587, 'smtps:': 465 } as const

/** Reads `smtp[s]://user:password@host:port`. @throws Error ending the sentence that begins with the setting's name; never with the password. */
export function parseSmtpUrl(value: string): SmtpServer | undefined {
  if (value === '') return undefined
  const url = URL.canParse(value) ? new URL(value) : undefined
  if (url === undefined || !(url.protocol === 'smtp:' || url.protocol === 'smtps:') || url.hostname === '') {
    throw new Error('is not the URL of a mail server, such as smtp://user:password@mail.example.com:587 or smtps://…')
  }
  if (!['', '/'].includes(url.pathname) || url.search !== '' || url.hash !== '')
    throw new Error('holds more than user, password, host and port: write % / ? and # of a password as %25 %2F %3F and %23')
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? defaultPorts[url.protocol] : Number(url.port),
    isTlsFromStart: url.protocol === 'smtps:',
    login: loginOf(url),
  }
}

function loginOf({ username, password }: URL): SmtpServer['login'] {
  if (username === '' && password === '') return undefined
  if (username === '' || password === '') throw new Error('has a user without a password, or a password without a user')
  try {
    return { user: decodeURIComponent(username), password: decodeURIComponent(password) }
  } catch {
    throw new Error('has a % in user or password that begins no escape: write it as %25')
  }
}

const namePattern = new RegExp(`^${visibleChar}{1,100}$`)

export function parseSender(value: string): string | undefined {
  if (value === '') return undefined
  senderOf(value)
  return value.trim()
}

function senderOf(value: string): Sender {
  const named = /^\s*"?([^"<>]+?)"?\s*<([^<>]+)>\s*$/.exec(value)
  const sender = { name: named?.[1] ?? '', address: named?.[2] ?? value.trim() }
  if (!Value.Check(Email, sender.address) || (named !== null && !namePattern.test(sender.name)))
    throw new Error(`"${value}" is not an e-mail address, such as cpd@example.com or Platform <cpd@example.com>`)
  return sender
}

/** How mail is sent, undefined when it is not. @throws AppError `bad_request` for one of the two settings without the other. */
export function mailSettingsOf(config: {
  CP_SMTP_URL: SmtpServer | undefined
  CP_SMTP_FROM: string | undefined
}): MailSettings | undefined {
  const { CP_SMTP_URL: server, CP_SMTP_FROM: from } = config
  if (server === undefined && from === undefined) return undefined
  if (server === undefined) throw halfSet('CP_SMTP_FROM is set, but CP_SMTP_URL is not: set it to the mail server, or remove CP_SMTP_FROM.')
  if (from === undefined) throw halfSet('CP_SMTP_URL is set, but CP_SMTP_FROM is not: set it to the address that mail comes from.')
  return { server, from: senderOf(from) }
}

const halfSet = (message: string) => new AppError('bad_request', message)
