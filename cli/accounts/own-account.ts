/**
 * What concerns a person's own account is done with a session: an API key has no account. Whoever is logged in with a key signs in with
 * the password, and stays so for a quarter of an hour.
 */
import type { Command } from 'commander'
import type { Client } from '../api/client.ts'
import { sessionIn } from '../api/session-cookie.ts'
import { CliError, usageError } from '../base/error.ts'
import { type Context, currentServer } from '../session/context.ts'
import { isPersonal, type PersonalSession, readCredentials, withLogin, writeCredentials } from '../session/credentials.ts'
import { clientWith, endPersonalSession, openSession } from '../session/login.ts'
import { askCode } from '../session/one-time-code.ts'
import { ask } from '../session/prompt.ts'
import { clean } from '../terminal/text.ts'

export interface OwnAccountOptions {
  email?: string
  passwordStdin?: boolean
  otp?: string
}

export interface OwnAccount {
  client: Client
  password(): Promise<string>
  /** A password to come: the next line of standard input, or typed twice. */
  newPassword(): Promise<string>
  code(): Promise<string>
  adopt(headers: Headers): Promise<void>
}

export const withOwnAccountOptions = (command: Command): Command =>
  command
    .option('--email <address>', 'Account to sign in to, where an API key is in use')
    .option('--password-stdin', 'Read passwords from standard input, one a line')
    .option('--otp <code>', 'Code of the authenticator app, or a recovery code')

/** Runs `use` as the person, with a session that is kept beside a key for a while, and ended at once where there is no place for it. */
export async function asOneself<T>(context: Context, options: OwnAccountOptions, use: (account: OwnAccount) => Promise<T>): Promise<T> {
  const { url, name, credential } = await currentServer(context)
  const secrets = secretsOf(context, options)
  if (credential !== undefined && isPersonal(credential)) {
    return use({ ...secrets, client: context.client, adopt: (headers) => store(context, name, sessionIn(headers)) })
  }
  const key = credential?.kind === 'api_key' ? credential : undefined
  const isOfKey = options.email === undefined || options.email === key?.email
  const kept = key?.person !== undefined && isOfKey && key.person.until > Date.now() ? key.person : undefined
  if (kept !== undefined && (await isGood(context, url, kept))) return useKept(context, { name, url, kept }, { secrets, use })
  if (key !== undefined) await endPersonalSession(context, url, key)
  const email = options.email ?? key?.email ?? (await askEmail(context))
  if (!context.isJson) context.note(clean`This is about your account, so sign in to ${email}.`)
  let isCodeUsed = false
  const live = await openSession(context, url, {
    email,
    password: await secrets.password(),
    otp: options.otp,
    onCode: () => {
      isCodeUsed = true
    },
  })
  const client = clientWith(context, url, live)
  const adopt = async (headers: Headers) => {
    live.token = sessionIn(headers) ?? live.token
  }
  try {
    return await use({ ...secrets, code: () => (isCodeUsed ? secrets.nextCode() : secrets.code()), client, adopt })
  } finally {
    const isKept = key !== undefined && isOfKey && (await keepBeside(context, name, { token: live.token, until: Date.now() + KEPT_MS }))
    if (!isKept)
      await client.call('logout').catch((error: unknown) => {
        if (!(error instanceof CliError)) throw error
      })
  }
}

/** Long enough for one errand about the account, too short to be found by who comes later. */
const KEPT_MS = 15 * 60_000

interface Kept {
  name: string | undefined
  url: string
  kept: PersonalSession
}

function useKept<T>(
  context: Context,
  { name, url, kept }: Kept,
  { secrets, use }: { secrets: ReturnType<typeof secretsOf>; use: (account: OwnAccount) => Promise<T> },
): Promise<T> {
  const live = sessionOf(kept)
  const adopt = async (headers: Headers) => {
    live.token = sessionIn(headers) ?? live.token
    await keepBeside(context, name, { ...kept, token: live.token })
  }
  return use({ ...secrets, client: clientWith(context, url, live), adopt })
}

const sessionOf = ({ token }: PersonalSession) => ({ kind: 'session' as const, token, email: '' })

/** The session may have been ended meanwhile, by a new password say. */
const isGood = (context: Context, url: string, kept: PersonalSession): Promise<boolean> =>
  clientWith(context, url, sessionOf(kept))
    .call('me')
    .then(
      () => true,
      (error: unknown) => {
        if (error instanceof CliError && error.code === 'unauthorized') return false
        throw error
      },
    )

/** Keeps a session beside the key of a login; false where that is not stored here. */
async function keepBeside(context: Context, name: string | undefined, person: PersonalSession): Promise<boolean> {
  const path = context.settings.credentialsPath
  const stored = await readCredentials(path)
  const held = name === undefined ? undefined : stored.contexts[name]
  if (name === undefined || held?.credential.kind !== 'api_key') return false
  await writeCredentials(path, withLogin(stored, name, { ...held, credential: { ...held.credential, person } }))
  return true
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
