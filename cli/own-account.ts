/**
 * What concerns a person's own account is done with a session: an API key has no account. Whoever is logged in with a key signs in with
 * the password for the length of one command.
 */
import type { Command } from 'commander'
import type { Client } from './client.ts'
import { type Context, currentServer } from './context.ts'
import { isPersonal, readCredentials, withLogin, writeCredentials } from './credentials.ts'
import { CliError, usageError } from './error.ts'
import { clientWith, openSession } from './login.ts'
import { askCode } from './one-time-code.ts'
import { ask } from './prompt.ts'
import { sessionIn } from './session-cookie.ts'
import { clean } from './terminal-text.ts'

export interface OwnAccountOptions {
  email?: string
  passwordStdin?: boolean
  otp?: string
}

/** Somebody who is signed in as themselves, and what they are asked for on the way. */
export interface OwnAccount {
  client: Client
  /** The present password; asked for once. */
  password(): Promise<string>
  /** A password to come: the next line of standard input, or typed twice. */
  newPassword(): Promise<string>
  /** A code for what is to be done now. */
  code(): Promise<string>
  /** Goes on with the session that an answer opened in place of the present one. */
  adopt(headers: Headers): Promise<void>
}

/** Options of a command about one's own account. */
export const withOwnAccountOptions = (command: Command): Command =>
  command
    .option('--email <address>', 'Account to sign in to, where an API key is in use')
    .option('--password-stdin', 'Read passwords from standard input, one a line')
    .option('--otp <code>', 'Code of the authenticator app, or a recovery code')

/** Runs `use` as the person, and ends the session again where it was begun for this. */
export async function asOneself<T>(context: Context, options: OwnAccountOptions, use: (account: OwnAccount) => Promise<T>): Promise<T> {
  const { url, name, credential } = await currentServer(context)
  const secrets = secretsOf(context, options)
  if (credential !== undefined && isPersonal(credential)) {
    return use({ ...secrets, client: context.client, adopt: (headers) => store(context, name, sessionIn(headers)) })
  }
  const email = options.email ?? (credential?.kind === 'api_key' ? credential.email : await askEmail(context))
  if (!context.isJson) context.note(clean`This is about your account, so sign in to ${email} for this command.`)
  let isCodeUsed = false
  const session = await openSession(context, url, {
    email,
    password: await secrets.password(),
    otp: options.otp,
    onCode: () => {
      isCodeUsed = true
    },
  })
  const live = { ...session }
  const client = clientWith(context, url, live)
  const adopt = async (headers: Headers) => {
    live.token = sessionIn(headers) ?? live.token
  }
  try {
    return await use({ ...secrets, code: () => (isCodeUsed ? secrets.nextCode() : secrets.code()), client, adopt })
  } finally {
    await client.call('logout').catch((error: unknown) => {
      if (!(error instanceof CliError)) throw error
    })
  }
}

async function store(context: Context, name: string | undefined, token: string | undefined): Promise<void> {
  const path = context.settings.credentialsPath
  const stored = await readCredentials(path)
  const held = name === undefined ? undefined : stored.contexts[name]
  if (name === undefined || held === undefined || token === undefined) return
  if (held.credential.kind !== 'session') return
  await writeCredentials(path, withLogin(stored, name, { ...held, credential: { ...held.credential, token } }))
}

const askEmail = async (context: Context): Promise<string> =>
  (await ask(context, { text: 'E-mail:', instead: 'Give --email and --password-stdin, or log in with cpctl login.' })).trim()

function secretsOf(context: Context, { passwordStdin, otp }: OwnAccountOptions) {
  let lines: Promise<string[]> | undefined
  const nextLine = async (): Promise<string> => {
    lines ??= readLines(context)
    return (await lines).shift() ?? ''
  }
  const secret = async (text: string): Promise<string> => {
    const typed = passwordStdin ? await nextLine() : await ask(context, { text, isHidden: true, instead: 'Give --password-stdin.' })
    if (typed === '') throw usageError('The password must not be empty.')
    return typed
  }
  let present: Promise<string> | undefined
  return {
    password: () => {
      present ??= secret('Password:')
      return present
    },
    async newPassword() {
      const typed = await secret('New password:')
      if (!passwordStdin && (await secret('New password again:')) !== typed) throw usageError('The two do not match: nothing was changed.')
      return typed
    },
    code: async () => otp ?? askCode(context, 'Code of your authenticator app, or a recovery code:'),
    /** None is taken twice. */
    nextCode: () => askCode(context, 'The next code of the app (the one before has signed you in), or a recovery code:'),
  }
}

async function readLines({ io }: Context): Promise<string[]> {
  if (io.stdin.isTty) throw usageError('--password-stdin reads from a pipe, and standard input is a terminal.', 'Leave it out to be asked.')
  return (await io.stdin.text()).split(/\r?\n/)
}
