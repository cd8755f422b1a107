import type { AddressInfo } from 'node:net'
import PostalMime, { type Email } from 'postal-mime'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import { until } from './until.ts'

export interface ReceivedMail {
  /** Addresses of the envelope: where the mail really goes. */
  recipients: string[]
  sender: string
  /** Who logged in, if somebody did. */
  user: string | undefined
  isEncrypted: boolean
  parsed: Email
  /** The text stays as it came over the wire. */
  raw: string
}

/** A real mail server on loopback that keeps what it gets. */
export interface Mailbox {
  host: string
  port: number
  /** Settings with which a server sends its mail here. */
  env: Record<string, string>
  mails: ReceivedMail[]
  /** The newest mail to this address, as soon as there is one. */
  newestTo(address: string): Promise<ReceivedMail>
  close(): Promise<void>
}

export interface MailboxOptions {
  /** What a client has to log in with; without it nobody logs in. */
  login?: { user: string; password: string }
  /** Further options of the server: certificates, what it refuses. */
  server?: SMTPServerOptions
}

export async function startMailbox({ login, server: options = {} }: MailboxOptions = {}): Promise<Mailbox> {
  const mails: ReceivedMail[] = []
  const server = new SMTPServer({
    authOptional: login === undefined,
    disabledCommands: [...(login === undefined ? ['AUTH'] : []), ...(options.key === undefined ? ['STARTTLS'] : [])],
    logger: false,
    onAuth: ({ username, password }, _session, done) =>
      username === login?.user && password === login?.password
        ? done(null, { user: username })
        : done(new Error('Invalid username or password')),
    onData(stream, session, done) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', async () => {
        const raw = Buffer.concat(chunks)
        const { mailFrom, rcptTo } = session.envelope
        mails.push({
          recipients: rcptTo.map(({ address }) => address),
          sender: mailFrom === false ? '' : (mailFrom?.address ?? ''),
          user: typeof session.user === 'string' ? session.user : undefined,
          isEncrypted: session.secure,
          parsed: await PostalMime.parse(raw),
          raw: raw.toString('utf8'),
        })
        done()
      })
    },
    ...options,
  })
  // A client that goes away in the middle is not the test's failure.
  server.on('error', () => {})
  const port = await new Promise<number>((resolve) =>
    server.listen(0, '127.0.0.1', () => resolve((server.server.address() as AddressInfo).port)),
  )
  const secret = login === undefined ? '' : `${encodeURIComponent(login.user)}:${encodeURIComponent(login.password)}@`
  const scheme = options.secure ? 'smtps' : 'smtp'
  return {
    host: '127.0.0.1',
    port,
    env: { CP_SMTP_URL: `${scheme}://${secret}127.0.0.1:${port}`, CP_SMTP_FROM: 'Platform <cpd@example.com>' },
    mails,
    newestTo: (address) => until(`${address} has mail`, () => mails.findLast(({ recipients }) => recipients.includes(address))),
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
}
