import type { Owner } from '../../shared/workspace.ts'
import type { Client } from '../api/client.ts'
import { allPages } from '../api/pages.ts'
import { CliError } from '../base/error.ts'
import { type Context, currentServer } from '../session/context.ts'
import { readCredentials, withLogin, writeCredentials } from '../session/credentials.ts'
import { clientWith } from '../session/login.ts'

/** A client that names no workspace: the one in use may be there no more, and that is to be mended with it. */
export async function clientOfNone(context: Context): Promise<Client> {
  const { url, credential } = await currentServer(context)
  return clientWith(context, url, credential)
}

export async function ownersOf(context: Context): Promise<{ owner: Owner; cursor: string }[]> {
  const client = await clientOfNone(context)
  return await allPages((query) => client.call('listOwners', { query }))
}

/** The workspace of this name or id. @throws CliError when the caller is in none, or several have the name. */
export async function resolveWorkspace(context: Context, nameOrId: string): Promise<Owner> {
  const owners = (await ownersOf(context)).map(({ owner }) => owner)
  const byId = owners.filter(({ id }) => id === nameOrId)
  const [found, other] = byId.length > 0 ? byId : owners.filter(({ name }) => name === nameOrId)
  if (found === undefined)
    throw new CliError('not_found', `You are in no workspace ${nameOrId}.`, { hint: 'cpctl workspaces list shows yours.' })
  if (other !== undefined)
    throw new CliError('conflict', `Several workspaces are named ${nameOrId}.`, { hint: 'Give the id: cpctl workspaces list shows it.' })
  return found
}

/** Has the following commands to this server act in a workspace; false where no login is stored that could. */
export async function rememberWorkspace(context: Context, workspaceId: string): Promise<boolean> {
  const { name, credential } = await currentServer(context)
  const stored = await readCredentials(context.settings.credentialsPath)
  const held = name === undefined ? undefined : stored.contexts[name]
  if (name === undefined || held === undefined || held.credential.token !== credential?.token) return false
  const login = { ...held, credential: { ...held.credential, workspaceId } }
  await writeCredentials(context.settings.credentialsPath, withLogin(stored, name, login))
  return true
}

/** Has them act in the first workspace again, where this one was in use. */
export async function forgetWorkspace(context: Context, workspaceId: string): Promise<void> {
  const { name } = await currentServer(context)
  const stored = await readCredentials(context.settings.credentialsPath)
  const held = name === undefined ? undefined : stored.contexts[name]
  if (name === undefined || held?.credential.workspaceId !== workspaceId) return
  const { workspaceId: _, ...credential } = held.credential
  await writeCredentials(context.settings.credentialsPath, withLogin(stored, name, { ...held, credential }))
}
