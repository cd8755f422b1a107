import type { Me } from '../../shared/auth.ts'
import { type Client, createClient } from '../api/client.ts'
import { sessionIn } from '../api/session-cookie.ts'
import { CliError } from '../base/error.ts'
import { type Context, credentialHeaders } from './context.ts'
import type { Credential } from './credentials.ts'
import { withCode } from './one-time-code.ts'

export interface SignedIn {
  credential: Credential
  me: Me
}

const MAX_KEY_NAME_CHARS = 100

/** A client of one server with one credential, whatever is stored. */
export const clientWith = (context: Pick<Context, 'io'>, url: string, credential?: Credential): Client =>
  createClient(async () => ({ url, headers: credential === undefined ? {} : credentialHeaders(url, credential) }), context.io.interrupted)

/** Finds out who a token belongs to. @throws CliError unauthorized when the server does not take it. */
export async function loginByToken(context: Context, url: string, token: string): Promise<SignedIn> {
  const credential: Credential = { kind: 'token', token }
  const me = await clientWith(context, url, credential)
    .call('me')
    .catch((error: unknown) => {
      if (!(error instanceof CliError) || error.code !== 'unauthorized') throw error
      throw new CliError('unauthorized', `${url} does not accept this token.`, {
        hint: 'Make a new one with cpctl keys create.',
        cause: error,
      })
    })
  return { credential, me }
}

/** Exchanges a password for an API key of this machine, to be revoked by name; users who may not make keys keep the session. */
export async function loginByPassword(context: Context, url: string, account: PasswordLogin): Promise<SignedIn> {
  const session = await openSession(context, url, account)
  const client = clientWith(context, url, session)
  const me = await client.call('me')
  if (!me.permissions.includes('apikeys.manage')) return { credential: session, me }
  const name = `cpctl@${context.io.hostname}`.slice(0, MAX_KEY_NAME_CHARS)
  const key = await client.call('createApiKey', { body: { name, role: me.role } })
  await client.call('logout')
  return { credential: { kind: 'api_key', token: key.secret, keyId: key.id, email: account.email }, me }
}

export interface PasswordLogin {
  email: string
  password: string
  /** Code given beforehand; without one it is asked for when the server wants it. */
  otp?: string | undefined
  onCode?(): void
}

/** Opens a session. @throws CliError unauthorized for a wrong password or code. */
export async function openSession(
  context: Context,
  url: string,
  { email, password, otp: given, onCode }: PasswordLogin,
): Promise<SessionCredential> {
  const client = clientWith(context, url)
  const response = await withCode(context, given, (otp) => {
    if (otp !== undefined) onCode?.()
    return client.respond('login', { body: { email, password, ...(otp === undefined ? {} : { otp }) } }).catch(explained)
  })
  const token = sessionIn(response.headers)
  if (!token) throw new CliError('internal', `${url} opened no session.`, { hint: 'Check that the URL is that of a cpd server.' })
  return { kind: 'session', token, email }
}

type SessionCredential = Extract<Credential, { kind: 'session' }>

function explained(error: unknown): never {
  if (!(error instanceof CliError) || error.code !== 'unauthorized') throw error
  const { id, details } = error.body
  throw new CliError('unauthorized', error.message, {
    id,
    ...(details === undefined ? {} : { details }),
    cause: error,
  })
}

/** Ends what login began. @throws CliError when the server could not be told. */
export async function endLogin(context: Context, url: string, credential: Credential): Promise<void> {
  const client = clientWith(context, url, credential)
  const ended = async () => {
    if (credential.kind === 'api_key') {
      await endPersonalSession(context, url, credential)
      await client.call('revokeApiKey', { params: { keyId: credential.keyId } })
    }
    if (credential.kind === 'session') await client.call('logout')
    if (credential.kind === 'device') await client.call('revokeDeviceToken', { body: { token: credential.refreshToken } })
  }
  await ended().catch((error: unknown) => {
    // Revoked or expired already.
    if (!(error instanceof CliError) || !['unauthorized', 'not_found'].includes(error.code)) throw error
  })
}

/** Ends the session that was kept beside a key, if there is one. */
export async function endPersonalSession(
  context: Context,
  url: string,
  { person, email }: Extract<Credential, { kind: 'api_key' }>,
): Promise<void> {
  if (person === undefined) return
  const client = clientWith(context, url, { kind: 'session', token: person.token, email })
  await client.call('logout').catch((error: unknown) => {
    if (!(error instanceof CliError)) throw error
  })
}
