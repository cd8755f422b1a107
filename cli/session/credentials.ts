import { readFile } from 'node:fs/promises'
import { messageOf } from '../../shared/error.ts'
import { CliError } from '../base/error.ts'
import { writePrivateFile } from '../base/private-file.ts'

export type Credential = Proof & {
  workspaceId?: string
}

type Proof =
  /** A key that `cpctl login` made for this machine; logout revokes it. */
  | { kind: 'api_key'; token: string; keyId: string; email: string; person?: PersonalSession }
  | { kind: 'session'; token: string; email: string }
  /** Tokens of a login that was confirmed in a browser, which renew themselves; logout ends it. Times in milliseconds. */
  | { kind: 'device'; token: string; refreshToken: string; expiresAt: number; lifetimeMs: number; email: string }
  | { kind: 'token'; token: string }

/** A session beside a key, so that commands about the account itself do not ask for the password each time. Times in milliseconds. */
export interface PersonalSession {
  token: string
  until: number
}

/** Keys are nobody's, and tokens that somebody brought may be. */
export const isPersonal = ({ kind }: Credential): boolean => kind !== 'api_key' && kind !== 'token'

export interface NamedContext {
  url: string
  credential: Credential
}

export interface Credentials {
  current?: string
  contexts: Record<string, NamedContext>
}

/** Which login is meant: by the name of its context, by the URL of its server, or the one in use. */
export interface WantedLogin {
  name?: string | undefined
  url?: string | undefined
}

/** The login that is meant; of several to one server the one in use, else the first. */
export function findLogin({ current, contexts }: Credentials, { name, url }: WantedLogin): (NamedContext & { name: string }) | undefined {
  const named = (key: string | undefined) => {
    const found = key === undefined ? undefined : contexts[key]
    return key === undefined || found === undefined ? undefined : { name: key, ...found }
  }
  if (name !== undefined) return named(name)
  const used = named(current)
  if (url === undefined || used?.url === url) return used
  return named(Object.keys(contexts).find((key) => contexts[key]?.url === url))
}

/** With a login under its name, in the place of the one that has it. */
export const withLogin = (stored: Credentials, name: string, login: NamedContext): Credentials => ({
  ...stored,
  contexts: { ...stored.contexts, [name]: login },
})

/** Without the login of a name; nothing is in use then where it was. */
export function withoutLogin({ current, contexts }: Credentials, name: string): Credentials {
  const { [name]: _, ...rest } = contexts
  return { contexts: rest, ...(current === undefined || current === name ? {} : { current }) }
}

/** The name of a new login to a server: the server's host, with a number where another login has it. */
export function freeNameFor({ contexts }: Credentials, url: string): string {
  const { host } = new URL(url)
  for (let count = 1; ; count++) {
    const name = count === 1 ? host : `${host}-${count}`
    if (!(name in contexts)) return name
  }
}

/** Reads the file, or nothing when there is none. @throws CliError when it cannot be read or is not ours. */
export async function readCredentials(path: string): Promise<Credentials> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw new CliError('internal', `Cannot read ${path}: ${error.message}`, { cause: error })
  })
  if (text === undefined) return { contexts: {} }
  const value = parse(text)
  if (isCredentials(value)) return value
  if (isByServer(value)) return named(value)
  throw new CliError('internal', `${path} is not a file of cpctl.`, { hint: 'Remove it and run cpctl login.' })
}

/** Replaces the file, for its owner's eyes only. @throws CliError when it cannot be written. */
export async function writeCredentials(path: string, credentials: Credentials): Promise<void> {
  try {
    await writePrivateFile(path, `${JSON.stringify(credentials, null, 2)}\n`)
  } catch (cause) {
    const reason = messageOf(cause)
    throw new CliError('internal', `Cannot write ${path}: ${reason}`, { cause, hint: 'Set CPCTL_URL and CPCTL_TOKEN instead.' })
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** How logins were kept before they had names: by the URL of the server. */
interface ByServer {
  current?: string
  servers: Record<string, Credential>
}

function named({ current, servers }: ByServer): Credentials {
  const stored: Credentials = { contexts: {} }
  for (const [url, credential] of Object.entries(servers)) {
    const name = freeNameFor(stored, url)
    stored.contexts[name] = { url, credential }
    if (url === current) stored.current = name
  }
  return stored
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

const isCredentials = (value: unknown): value is Credentials =>
  isObject(value) && isObject(value.contexts) && Object.values(value.contexts).every(isNamedContext)

const isNamedContext = (value: unknown): boolean => isObject(value) && typeof value.url === 'string' && isCredential(value.credential)

const isByServer = (value: unknown): value is ByServer =>
  isObject(value) &&
  isObject(value.servers) &&
  Object.entries(value.servers).every(([url, held]) => URL.canParse(url) && isCredential(held))

const isCredential = (value: unknown): boolean => isObject(value) && typeof value.token === 'string' && 'kind' in value
