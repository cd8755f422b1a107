import type { Command } from 'commander'
import { credential as checkedToken, DEFAULT_URL } from '../base/config.ts'
import { CliError, usageError } from '../base/error.ts'
import { scopesInWords } from '../finding/scope.ts'
import { type Context, currentServer, type Start } from '../session/context.ts'
import {
  type Credential,
  findLogin,
  freeNameFor,
  type NamedContext,
  readCredentials,
  withLogin,
  withoutLogin,
  writeCredentials,
} from '../session/credentials.ts'
import { loginByDevice } from '../session/device-login.ts'
import { endLogin, loginByPassword, loginByToken, type SignedIn } from '../session/login.ts'
import { ask, piped } from '../session/prompt.ts'
import { formatFields } from '../terminal/table.ts'
import { clean } from '../terminal/text.ts'

interface LoginOptions {
  device?: boolean
  email?: string
  passwordStdin?: boolean
  otp?: string
  token?: string
  tokenStdin?: boolean
}

export function addAccountCommands(program: Command, start: Start): void {
  program
    .command('login')
    .description('Log in to a server and remember it')
    .option('--device', 'Confirm the login in a browser, on this machine or another (the default on a terminal)')
    .option('--email <address>', 'E-mail address of the account')
    .option('--password-stdin', 'Read the password from standard input')
    .option('--otp <code>', 'Code of the authenticator app, or a recovery code, for an account that has two-factor sign-in')
    .option('--token <token>', 'Use this API key instead of a password')
    .option('--token-stdin', 'Read the API key from standard input')
    .action((options: LoginOptions, command: Command) => login(start(command), options))
  program
    .command('logout')
    .description('Log out of the server and revoke what the login made')
    .action((_: unknown, command: Command) => logout(start(command)))
  program
    .command('whoami')
    .description('Show the server, the account and the role in use')
    .action((_: unknown, command: Command) => whoami(start(command)))
}

async function login(context: Context, options: LoginOptions): Promise<void> {
  const path = context.settings.credentialsPath
  const stored = await readCredentials(path)
  const wanted = { name: context.givenContext, url: context.givenUrl }
  const earlier = findLogin(stored, wanted)
  const url = context.givenUrl ?? earlier?.url ?? findLogin(stored, {})?.url ?? DEFAULT_URL
  const { credential, me } = await signIn(context, url, options)
  const name = context.givenContext ?? earlier?.name ?? freeNameFor(stored, url)
  await writeCredentials(path, { ...withLogin(stored, name, { url, credential }), current: name })
  if (earlier?.url === url && earlier.credential.token !== credential.token) await endEarlierLogin(context, url, earlier.credential)
  if (context.isJson) return context.printJson({ url, context: name, ...me })
  context.print(clean`Logged in to ${url} as ${me.actor.email ?? me.actor.name} (${me.role} of ${me.workspace.name}).`)
  if (context.settings.token !== undefined) context.note('CPCTL_TOKEN is set and wins over this login until it is unset.')
}

/** What the login before this one made would live on with nobody who knows it. */
async function endEarlierLogin(context: Context, url: string, earlier: Credential): Promise<void> {
  await endLogin(context, url, earlier).catch((error: unknown) => {
    if (!(error instanceof CliError)) throw error
    context.note(clean`The earlier login could not be ended: ${error.message} cpctl keys list shows its key.`)
  })
}

async function signIn(context: Context, url: string, options: LoginOptions): Promise<SignedIn> {
  if (options.token !== undefined) return loginByToken(context, url, checkedToken(options.token, '--token'))
  if (options.tokenStdin) return loginByToken(context, url, checkedToken(await piped(context, '--token-stdin'), 'Standard input'))
  if (isInClear(url)) context.note(`Warning: the login travels to ${url} unencrypted. Use https.`)
  return (await signInByDevice(context, url, options)) ?? signInByPassword(context, url, options)
}

/** Undefined where a password is wanted, or the server knows nothing else. */
async function signInByDevice(
  context: Context,
  url: string,
  { device, email, passwordStdin }: LoginOptions,
): Promise<SignedIn | undefined> {
  const isWanted = device === true || (context.io.stdin.isTty && email === undefined && passwordStdin !== true)
  const signedIn = isWanted ? await loginByDevice(context, url) : undefined
  if (device === true && signedIn === undefined)
    throw new CliError('not_found', `${url} knows no login of devices.`, { hint: 'Log in with --email.' })
  return signedIn
}

async function signInByPassword(context: Context, url: string, options: LoginOptions): Promise<SignedIn> {
  const instead = 'Give --device, --email and --password-stdin, or --token-stdin.'
  const email = options.email ?? (await ask(context, { text: 'E-mail:', instead })).trim()
  const password = options.passwordStdin
    ? (await piped(context, '--password-stdin')).replace(/\r?\n$/, '')
    : await ask(context, { text: 'Password:', isHidden: true, instead })
  if (email === '' || password === '') throw usageError('E-mail and password must not be empty.')
  return loginByPassword(context, url, { email, password, otp: options.otp })
}

function isInClear(url: string): boolean {
  const { protocol, hostname } = new URL(url)
  return protocol === 'http:' && !/^(localhost|.*\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname)
}

async function logout(context: Context): Promise<void> {
  const stored = await readCredentials(context.settings.credentialsPath)
  const held = findLogin(stored, { name: context.givenContext, url: context.givenUrl })
  const url = held?.url ?? context.givenUrl ?? DEFAULT_URL
  if (held !== undefined) await forgetLogin(context, held)
  if (context.isJson) return
  context.print(held === undefined ? clean`Not logged in to ${url}.` : clean`Logged out of ${url}.`)
  if (context.settings.token !== undefined) context.note('CPCTL_TOKEN is set and goes on to be used until it is unset.')
}

/** Ends a login at the server and here; here even when the server cannot be told. @throws CliError when the server could not. */
export async function forgetLogin(context: Context, { name, url, credential }: NamedContext & { name: string }): Promise<void> {
  const path = context.settings.credentialsPath
  const ended = await endLogin(context, url, credential).catch((error: unknown) => error)
  await writeCredentials(path, withoutLogin(await readCredentials(path), name))
  if (ended instanceof CliError) throw unrevoked(ended, credential)
  if (ended !== undefined) throw ended
}

function unrevoked(error: CliError, held: Credential): CliError {
  const hint = held.kind === 'api_key' ? `Revoke its key when the server is back: cpctl keys revoke ${held.keyId}` : undefined
  return new CliError(error.code, `Logged out on this machine only: ${error.message}`, {
    cause: error,
    ...(hint === undefined ? {} : { hint }),
  })
}

async function whoami(context: Context): Promise<void> {
  const { url, name, credential } = await currentServer(context)
  const me = await context.client.call('me')
  if (context.isJson) return context.printJson(me)
  context.io.stdout.write(
    formatFields(
      [
        ['Server', url],
        ['Context', name],
        ['Name', me.actor.name],
        ['E-mail', me.actor.email ?? emailOf(credential)],
        ['Workspace', `${me.workspace.name} (${me.workspace.id})`],
        ['Role', me.role],
        ['May touch', me.scope === null ? undefined : (await scopesInWords(context, [me.scope]))(me.scope)],
        ['Credential', credential && describe(credential, context)],
      ],
      context.paint,
    ),
  )
}

const emailOf = (credential: Credential | undefined): string | undefined =>
  credential !== undefined && 'email' in credential ? credential.email || undefined : undefined

function describe(credential: Credential, { settings }: Context): string {
  if (settings.token !== undefined) return 'token from CPCTL_TOKEN'
  switch (credential.kind) {
    case 'api_key':
      return `API key of this machine (${credential.keyId})`
    case 'session':
      return 'session'
    case 'device':
      return 'login confirmed in a browser'
    case 'token':
      return 'token given at login'
  }
}
