import { readFile } from 'node:fs/promises'
import { messageOf } from '../shared/error.ts'
import { CliError } from './error.ts'
import { writePrivateFile } from './private-file.ts'

/** What proves who we are to one server, and how it came to be. */
export type Credential = Proof & {
  /** Chosen with `cpctl workspaces use`: where commands act. */
  workspaceId?: string
}

type Proof =
  /** A key that `cpctl login` made for this machine; logout revokes it. */
  | { kind: 'api_key'; token: string; keyId: string; email: string }
  /** A session, for users who may not make keys; logout ends it. */
  | { kind: 'session'; token: string; email: string }
  /** Tokens of a login that was confirmed in a browser, which renew themselves; logout ends it. Times in milliseconds. */
  | { kind: 'device'; token: string; refreshToken: string; expiresAt: number; lifetimeMs: number; email: string }
  /** A token that the user brought; logout only forgets it. */
  | { kind: 'token'; token: string }

/** Whether it is surely somebody's own: keys are nobody's, and tokens that somebody brought may be. */
export const isPersonal = ({ kind }: Credential): boolean => kind !== 'api_key' && kind !== 'token'

export interface Credentials {
  /** URL of the server that commands talk to. */
  current?: string
  servers: Record<string, Credential>
}

/** Reads the file, or nothing when there is none. @throws CliError when it cannot be read or is not ours. */
export async function readCredentials(path: string): Promise<Credentials> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw new CliError('internal', `Cannot read ${path}: ${error.message}`, { cause: error })
  })
  if (text === undefined) return { servers: {} }
  const value = parse(text)
  if (!isCredentials(value)) {
    throw new CliError('internal', `${path} is not a file of cpctl.`, { hint: 'Remove it and run cpctl login.' })
  }
  return value
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

function isCredentials(value: unknown): value is Credentials {
  if (typeof value !== 'object' || value === null || !('servers' in value)) return false
  const { servers } = value
  return typeof servers === 'object' && servers !== null && Object.values(servers).every(isCredential)
}

const isCredential = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'token' in value && typeof value.token === 'string' && 'kind' in value
