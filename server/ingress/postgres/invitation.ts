import { admissionOf, type Listed, type Refusal } from '../databases/admission.ts'
import type { ProxyTarget } from '../tables/proxy-target.ts'
import { plainName } from '../tls/certificate-names.ts'
import { type Fatal, sqlStates } from './error-response.ts'
import type { FirstPacket } from './first-packet.ts'

const { protocolViolation, invalidAuthorization, unknownDatabase, cannotConnectNow, unsupported } = sqlStates

/** Roles that begin so are the platform's own. */
const OWN_ROLES = 'cpd_'
const FALSE_WORDS = ['false', 'off', 'no', '0']

export interface Asked {
  serverName: string | undefined
  address: string
  find(host: string): Listed | undefined
}

export type Invitation = { id: string; target: ProxyTarget; about: string } | { fatal: Fatal; id?: string }

/** Who is let in where, after the first packet inside of TLS; else what is said to them. */
export function invited(packet: FirstPacket, { serverName, address, find }: Asked): Invitation {
  if (packet.kind !== 'startup') return { fatal: strangeAnswer(packet.kind) }
  if (serverName === undefined) return { fatal: NO_NAME }
  const found = find(plainName(serverName))
  const admission = admissionOf(found, address)
  const known = found === undefined ? {} : { id: found.id }
  if ('refusal' in admission)
    return { fatal: refusalAnswer(admission.refusal, { host: serverName, address, name: found?.route.name ?? '' }), ...known }
  const fatal = roleAnswer(packet.parameters)
  if (fatal !== undefined) return { fatal, ...known }
  return { id: found?.id ?? '', target: admission.target, about: aboutOf(packet.parameters) }
}

function aboutOf(parameters: readonly [string, string][]): string {
  const { user = '', database = user } = Object.fromEntries(parameters)
  return `as ${user} to ${database}`
}

export function plainAnswer(kind: FirstPacket['kind']): Fatal {
  if (kind !== 'startup') return strangeAnswer(kind)
  return { state: invalidAuthorization, message: 'SSL is required', hint: 'Connect with sslmode=require or stricter.' }
}

const strangeAnswer = (kind: FirstPacket['kind']): Fatal =>
  kind === 'unknown_version'
    ? { state: unsupported, message: 'unsupported frontend protocol: this server speaks 3.0 to 3.2' }
    : { state: protocolViolation, message: 'invalid startup packet' }

const NO_NAME: Fatal = {
  state: protocolViolation,
  message: 'no host name was given in TLS, so it is not known which database is meant',
  hint: 'Connect to the name of the database, not to an IP address, with a client that sends it (SNI): libpq 14 or newer, sslsni=1.',
}

export const UNREACHABLE: Fatal = {
  state: cannotConnectNow,
  message: 'the database does not answer at the moment',
  hint: 'Try again in some seconds.',
}

interface Refused {
  host: string
  address: string
  name: string
}

function refusalAnswer(refusal: Refusal, { host, address, name }: Refused): Fatal {
  switch (refusal) {
    case 'unknown':
      return { state: unknownDatabase, message: `there is no database at ${host}` }
    case 'not_allowed':
      return {
        state: invalidAuthorization,
        message: `connections from ${address} are not allowed`,
        hint: 'Add this address to the allow list of the database (ipAllowList).',
      }
    case 'suspended':
      return { state: cannotConnectNow, message: `the database ${name} is suspended`, hint: 'Resume it, then connect again.' }
    case 'unavailable':
      return { state: cannotConnectNow, message: `the database ${name} is starting up or restarting`, hint: 'Try again in some seconds.' }
    default:
      return refusal satisfies never
  }
}

/** All of several are looked at: which of them counts is the server's business. */
function roleAnswer(parameters: readonly [string, string][]): Fatal | undefined {
  const valuesOf = (wanted: string) => parameters.filter(([name]) => name === wanted).map(([, value]) => value)
  const users = valuesOf('user')
  if (users.every((user) => user === ''))
    return { state: invalidAuthorization, message: 'no PostgreSQL user name specified in startup packet' }
  const own = users.find((user) => user.startsWith(OWN_ROLES))
  if (own !== undefined)
    return { state: invalidAuthorization, message: `role "${own}" is the platform's own and does not connect from outside` }
  const isReplication = valuesOf('replication').some((value) => !FALSE_WORDS.includes(value.toLowerCase()))
  if (!isReplication) return undefined
  return {
    state: unsupported,
    message: 'replication connections are not let in from outside',
    hint: 'Ask for a read replica, or for an export.',
  }
}
