import { invalidValue } from '../../../../shared/error.ts'
import { parseIp } from '../../../../shared/ip-address.ts'
import { isLoopbackHost } from '../../../platform/network/address.ts'
import { isReachable, type OutgoingPolicy } from '../../../platform/outgoing/rules.ts'

const sslModes = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'] as const

/** Another database, as its connection string tells of it. */
export interface SourceDatabase {
  host: string
  port: number
  user: string
  password: string
  database: string
  sslMode: (typeof sslModes)[number]
}

const USUAL_PORT = 5432
const harmless = new Set([
  ...['application_name', 'channel_binding', 'connect_timeout', 'gssencmode', 'sslmode', 'sslnegotiation'],
  ...['target_session_attrs', 'pgbouncer', 'schema'],
])

/**
 * The database that a connection string names, as libpq reads one. What a name leads to is looked up when it is connected to.
 * @throws AppError validation_failed, which repeats nothing of a string that holds a password.
 */
export function parseSource(text: string, policy: OutgoingPolicy): SourceDatabase {
  const url = /^postgres(?:ql)?:\/\//.test(text) && URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined) throw refused('is no connection string, such as postgresql://user:password@db.example.com:5432/shop')
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1').toLowerCase()
  refuseHost(host, policy)
  const [user, password, database] = [url.username, url.password, url.pathname.slice(1)].map(decoded)
  if (!user) throw refused('names no user')
  return {
    ...{ host, user, password: password ?? '', database: database || user },
    port: url.port === '' ? USUAL_PORT : Number(url.port),
    sslMode: sslModeOf(url.searchParams),
  }
}

function refuseHost(host: string, policy: OutgoingPolicy): void {
  if (!/^[\w.:-]+$/.test(host)) throw refused('names no host. The socket of another machine cannot be reached')
  const address = parseIp(host) === undefined ? (isLoopbackHost(host) ? '127.0.0.1' : undefined) : host
  if (address !== undefined && !isReachable(address, host, policy))
    throw refused('leads into a private network. An operator can open it with CP_OUTGOING_ALLOW')
}

/** Tools that speak in clear to a relay cannot bind a password to the channel: whoever asks for that has the certificate looked at. */
function sslModeOf(parameters: URLSearchParams): SourceDatabase['sslMode'] {
  const unknown = [...parameters.keys()].find((name) => !harmless.has(name))
  if (unknown !== undefined) throw refused(`has the parameter ${unknown.slice(0, 40)}, which means nothing here. Leave it out`)
  const wanted = parameters.get('sslmode') ?? 'require'
  const mode = sslModes.find((one) => one === (wanted === 'allow' ? 'prefer' : wanted))
  if (mode === undefined) throw refused(`has an sslmode that is none of ${sslModes.join(', ')}`)
  return mode === 'require' && parameters.get('channel_binding') === 'require' ? 'verify-full' : mode
}

function decoded(text: string): string {
  const plain = unescaped(text)
  if (plain !== undefined && !['\0', '\n', '\r'].some((character) => plain.includes(character))) return plain
  throw refused('has a user, password or name that is not encoded as in URLs, where % is %25')
}

function unescaped(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

const refused = (problem: string) => invalidValue('/url', `The connection string ${problem}.`)
