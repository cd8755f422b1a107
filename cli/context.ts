import type { Command } from 'commander'
import { isId } from '../shared/id.ts'
import { type Client, createClient, type Target } from './client.ts'
import { DEFAULT_URL, type Settings, serverUrl, settingsOf } from './config.ts'
import { type Credential, readCredentials } from './credentials.ts'
import { CliError } from './error.ts'
import type { Io } from './io.ts'
import { createPaint, type Paint } from './paint.ts'
import { sessionCookie } from './session-cookie.ts'
import { cleanJson } from './terminal-text.ts'

/** Options that every command takes. */
export interface GlobalOptions {
  url?: string
  workspace?: string
  json?: boolean
}

/** What a command works with: one invocation's settings, client and terminal. */
export interface Context {
  io: Io
  settings: Settings
  client: Client
  paint: Paint
  isJson: boolean
  /** URL given on the command line or by the environment. */
  givenUrl: string | undefined
  /** To standard output, with a line end. */
  print(line: string): void
  /** To standard error, with a line end: progress and remarks, which are no part of the result. */
  note(line: string): void
  printJson(value: unknown): void
}

/** Makes the context of the command that is about to run. */
export type Start = (command: Command) => Context

export const starter =
  (io: Io): Start =>
  (command) =>
    createContext(io, command.optsWithGlobals<GlobalOptions>())

export function createContext(io: Io, options: GlobalOptions): Context {
  const settings = settingsOf(io.env)
  const givenUrl = options.url === undefined ? settings.url : serverUrl(options.url, '--url')
  const workspace = options.workspace ?? settings.workspace
  return {
    io,
    settings,
    givenUrl,
    client: createClient(
      onceOnly(() => resolveTarget(io, { settings, givenUrl, workspace })),
      io.interrupted,
    ),
    paint: createPaint(isColoured(io, settings)),
    isJson: options.json === true,
    print: (line) => io.stdout.write(`${line}\n`),
    note: (line) => io.stderr.write(`${line}\n`),
    printJson: (value) => io.stdout.write(`${cleanJson(value)}\n`),
  }
}

export const isColoured = (io: Io, settings: Pick<Settings, 'isColourRefused'>): boolean => io.stdout.isTty && !settings.isColourRefused

interface Wanted {
  settings: Settings
  givenUrl: string | undefined
  workspace: string | undefined
}

/** The server that is talked to: given, else the one last logged in to, else the local one. */
export async function currentServer(context: Pick<Context, 'settings' | 'givenUrl'>): Promise<{ url: string; credential?: Credential }> {
  const stored = await readCredentials(context.settings.credentialsPath)
  const url = context.givenUrl ?? stored.current ?? DEFAULT_URL
  const { token } = context.settings
  const credential = token === undefined ? stored.servers[url] : ({ kind: 'token', token } as const)
  return credential === undefined ? { url } : { url, credential }
}

async function resolveTarget(io: Io, { settings, givenUrl, workspace }: Wanted): Promise<Target> {
  const { url, credential } = await currentServer({ settings, givenUrl })
  const headers = credential === undefined ? {} : credentialHeaders(url, credential)
  const wanted = workspace ?? credential?.workspaceId
  if (wanted === undefined) return { url, headers }
  const id = isId('workspace', wanted) ? wanted : await workspaceNamed(wanted, { url, headers }, io)
  return { url, headers: { ...headers, 'x-workspace-id': id } }
}

/** A session travels as a cookie, which the server takes only together with its own origin. */
export function credentialHeaders(url: string, credential: Credential): Record<string, string> {
  if (credential.kind !== 'session') return { authorization: `Bearer ${credential.token}` }
  return { cookie: `${sessionCookie}=${credential.token}`, origin: new URL(url).origin }
}

async function workspaceNamed(name: string, target: Target, io: Io): Promise<string> {
  const client = createClient(async () => target, io.interrupted)
  const found = (await client.call('listOwners', { query: { name: [name] } })).find(({ owner }) => owner.name === name)
  if (found === undefined)
    throw new CliError('not_found', `There is no workspace named ${name}.`, { hint: 'cpctl workspaces list shows yours.' })
  return found.owner.id
}

function onceOnly<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => {
    made ??= make()
    return made
  }
}
