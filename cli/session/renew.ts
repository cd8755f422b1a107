import { createClient } from '../api/client.ts'
import { CliError, isPassing } from '../base/error.ts'
import { readCredentials, withLogin, writeCredentials } from './credentials.ts'
import { type DeviceCredential, exchange, keptTokens, renewalOf } from './device-tokens.ts'
import type { Io } from './io.ts'
import { withLock } from './renewal-lock.ts'

interface Kept {
  io: Pick<Io, 'now' | 'interrupted'>
  path: string
  name: string
  url: string
}

/**
 * The credential of a device with tokens that are still good. A refresh token may be shown once: so one process exchanges it, while the
 * others wait for the outcome, which they find in the file.
 *
 * @throws CliError `unauthorized` when the login has ended, or why the server cannot be asked about a token that is good no longer.
 */
export async function renewed(kept: Kept, credential: DeviceCredential): Promise<DeviceCredential> {
  if (!isDue(kept, credential)) return credential
  return withLock(`${kept.path}.lock`, async () => {
    const present = await presentOf(kept)
    if (present === undefined) throw ended(kept.url)
    return isDue(kept, present) ? exchanged(kept, present) : present
  })
}

const isDue = ({ io }: Kept, credential: DeviceCredential): boolean => io.now() >= renewalOf(credential)

async function exchanged({ io, path, name, url }: Kept, present: DeviceCredential): Promise<DeviceCredential> {
  const client = createClient(async () => ({ url, headers: {} }), io.interrupted)
  try {
    const tokens = await exchange(client, present.refreshToken)
    if (tokens === undefined) throw ended(url)
    const next = { ...present, ...keptTokens(tokens, io.now()) }
    await writeCredentials(path, withLogin(await readCredentials(path), name, { url, credential: next }))
    return next
  } catch (error) {
    if (isPassing(error) && io.now() < present.expiresAt) return present
    throw error
  }
}

async function presentOf({ path, name }: Kept): Promise<DeviceCredential | undefined> {
  const held = (await readCredentials(path)).contexts[name]?.credential
  return held?.kind === 'device' ? held : undefined
}

const ended = (url: string): CliError =>
  new CliError('unauthorized', `The login to ${url} has ended.`, { hint: 'Log in again: cpctl login' })
