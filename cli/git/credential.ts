/** What git asks of its helpers before it pushes or fetches (gitcredentials(7)): a line for each attribute. */
import { CliError } from '../base/error.ts'
import { type Context, currentServer } from '../session/context.ts'
import { type Credential, readCredentials } from '../session/credentials.ts'

export interface Asked {
  origin: string
  username: string | undefined
}

/** The server that git asks for; undefined where it is none that a key could be for. */
export function readAsked(text: string): Asked | undefined {
  const attributes = new Map(text.split('\n').map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]))
  const url = `${attributes.get('protocol')}://${attributes.get('host')}`
  if (!/^https?:/.test(url) || !URL.canParse(url)) return undefined
  return { origin: new URL(url).origin, username: attributes.get('username') }
}

/** The lines that answer with a key. Names of logins have colons, which no user of HTTP Basic may have (RFC 7617, section 2). */
export const writeAnswer = ({ token }: Credential): string => `username=cpctl\npassword=${token}\n`

export async function credentialFor(context: Context, asked: Asked): Promise<Credential> {
  const credential = (await givenFor(context, asked)) ?? (await storedFor(context, asked))
  if (credential === undefined)
    throw new CliError('unauthorized', `cpctl has no login to ${asked.origin}.`, { hint: `Log in with cpctl login --url ${asked.origin}.` })
  if (credential.kind !== 'session') return credential
  throw new CliError('forbidden', `The login to ${asked.origin} is a session, which git cannot show.`, {
    hint: 'Log in with cpctl login --device, or set CPCTL_URL and CPCTL_TOKEN to an API key.',
  })
}

const leadsTo = (url: string, { origin }: Asked): boolean => new URL(url).origin === origin

async function givenFor(context: Context, asked: Asked): Promise<Credential | undefined> {
  const { settings, givenUrl, givenContext } = context
  if (settings.token === undefined && givenUrl === undefined && givenContext === undefined) return undefined
  const { url, credential } = await currentServer(context)
  return leadsTo(url, asked) ? credential : undefined
}

/** The login that the remote names, else the one in use, else the first, if it is to this server. */
async function storedFor({ io, settings }: Context, asked: Asked): Promise<Credential | undefined> {
  const { contexts, current } = await readCredentials(settings.credentialsPath)
  const names = Object.keys(contexts).filter((name) => leadsTo(contexts[name]?.url ?? '', asked))
  const name = [asked.username, current].find((one) => one !== undefined && names.includes(one)) ?? names[0]
  if (name === undefined) return undefined
  return (await currentServer({ io, settings: { ...settings, token: undefined }, givenUrl: undefined, givenContext: name })).credential
}
