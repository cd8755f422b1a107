import type { Command } from 'commander'
import { isId } from '../../shared/id.ts'
import { type Client, createClient, type Target } from '../api/client.ts'
import { allPages } from '../api/pages.ts'
import { cookieOfSession } from '../api/session-cookie.ts'
import { DEFAULT_URL, type Settings, serverUrl, settingsOf } from '../base/config.ts'
import { CliError, usageError } from '../base/error.ts'
import { createPaint, type Paint } from '../terminal/paint.ts'
import { cleanJson } from '../terminal/text.ts'
import { type Credential, findLogin, readCredentials } from './credentials.ts'
import { renewalOf } from './device-tokens.ts'
import type { Io } from './io.ts'
import { renewed } from './renew.ts'

export interface GlobalOptions {
  url?: string
  workspace?: string
  context?: string
  json?: boolean
}

export interface Context {
  io: Io
  settings: Settings
  client: Client
  paint: Paint
  isJson: boolean
  givenUrl: string | undefined
  givenContext: string | undefined
  print(line: string): void
  /** To standard error, with a line end: progress and remarks, which are no part of the result. */
  note(line: string): void
  printJson(value: unknown): void
}

export type Start = (command: Command) => Context

export const starter =
  (io: Io): Start =>
  (command) =>
    createContext(io, command.optsWithGlobals<GlobalOptions>())

export function createContext(io: Io, options: GlobalOptions): Context {
  const settings = settingsOf(io.env)
  const givenUrl = options.url === undefined ? settings.url : serverUrl(options.url, '--url')
  const givenContext = options.context ?? (options.url === undefined ? settings.context : undefined)
  const workspace = options.workspace ?? settings.workspace
  return {
    io,
    settings,
    givenUrl,
    givenContext,
    client: createClient(
      whileGood(io, () => resolveTarget(io, { settings, givenUrl, givenContext, workspace })),
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
  givenContext: string | undefined
  workspace: string | undefined
}

/** The server that is talked to, and the stored login that is used there, if one is. */
export interface CurrentServer {
  url: string
  name?: string
  credential?: Credential
}

/** The server given, else of the context given or in use, else the local one. @throws CliError for an ended login or a wrong context. */
export async function currentServer(context: Pick<Context, 'io' | 'settings' | 'givenUrl' | 'givenContext'>): Promise<CurrentServer> {
  const { io, settings, givenUrl, givenContext } = context
  const path = settings.credentialsPath
  const login = findLogin(await readCredentials(path), { name: givenContext, url: givenUrl })
  if (givenContext !== undefined) requireContext(login, { name: givenContext, url: givenUrl })
  const url = givenUrl ?? login?.url ?? DEFAULT_URL
  if (settings.token !== undefined) return { url, credential: { kind: 'token', token: settings.token } }
  if (login === undefined) return { url }
  const { name, credential } = login
  return { url, name, credential: credential.kind === 'device' ? await renewed({ io, path, name, url }, credential) : credential }
}

function requireContext(login: { url: string } | undefined, { name, url }: { name: string; url: string | undefined }): void {
  if (login === undefined) throw new CliError('not_found', `There is no context ${name}.`, { hint: 'cpctl context list shows them.' })
  if (url !== undefined && login.url !== url)
    throw usageError(`The context ${name} is of ${login.url}, not of ${url}.`, 'Give one of the two.')
}

interface Resolved {
  target: Target
  /** When it is to be resolved again, in milliseconds since 1970. */
  goodUntil: number
}

async function resolveTarget(io: Io, { workspace, ...wanted }: Wanted): Promise<Resolved> {
  const { url, credential } = await currentServer({ io, ...wanted })
  const goodUntil = credential?.kind === 'device' ? renewalOf(credential) : Number.POSITIVE_INFINITY
  return { target: await targetIn(io, { url, credential, workspace }), goodUntil }
}

async function targetIn(
  io: Io,
  { url, credential, workspace }: { url: string; credential: Credential | undefined; workspace: string | undefined },
): Promise<Target> {
  const headers = credential === undefined ? {} : credentialHeaders(url, credential)
  const wanted = workspace ?? credential?.workspaceId
  if (wanted === undefined) return { url, headers }
  const id = isId('workspace', wanted) ? wanted : await workspaceNamed(wanted, { url, headers }, io)
  return { url, headers: { ...headers, 'x-workspace-id': id } }
}

/** A session travels as a cookie, which the server takes only together with its own origin. */
export function credentialHeaders(url: string, credential: Credential): Record<string, string> {
  if (credential.kind !== 'session') return { authorization: `Bearer ${credential.token}` }
  return { cookie: cookieOfSession(credential.token), origin: new URL(url).origin }
}

async function workspaceNamed(name: string, target: Target, io: Io): Promise<string> {
  const client = createClient(async () => target, io.interrupted)
  // A comma separates values of a filter, so a name that holds one has to be looked for among all.
  const filter = name.includes(',') ? {} : { name: [name] }
  const page = await allPages((query) => client.call('listOwners', { query: { ...query, ...filter } }))
  const [found, other] = page.filter(({ owner }) => owner.name === name)
  if (found === undefined)
    throw new CliError('not_found', `There is no workspace named ${name}.`, { hint: 'cpctl workspaces list shows yours.' })
  if (other !== undefined)
    throw new CliError('conflict', `Several workspaces are named ${name}.`, { hint: 'Give the id: cpctl workspaces list shows it.' })
  return found.owner.id
}

/** What was resolved once, until it is good no longer: a command may last longer than its token. */
function whileGood({ now }: Pick<Io, 'now'>, resolve: () => Promise<Resolved>): () => Promise<Target> {
  let held: Promise<Resolved> | undefined
  return async () => {
    if (held === undefined || (await held).goodUntil <= now()) held = resolve()
    return (await held).target
  }
}
