import { forwardedClient } from '../../../shared/forwarded-client.ts'
import { type IpRange, isInRanges, parseIpRange } from '../../../shared/ip-address.ts'
import type { ClientSide } from '../exchange/exchange.ts'
import { type Page, pageResponse } from '../exchange/page.ts'
import type { LocalResponse } from '../exchange/respond.ts'
import type { Header } from '../message/header.ts'
import { fieldValue, type RequestHead } from '../message/request-head.ts'
import type { RoutePolicy } from '../tables/route-table.ts'
import { compileRules, type PathRules, redirectOf, ruledHeaders } from './path-rules.ts'

export interface CompiledPolicy {
  allowed: readonly IpRange[] | undefined
  maintenance: { uri: string; host: string } | undefined
  rules: PathRules
}

export interface PolicyRequest {
  name: string
  head: RequestHead
  client: ClientSide
  isTrusted: (address: string) => boolean
}

const MAINTENANCE_RETRY_SECONDS = 60
/** A GET of the page, whatever was asked for: a form must not be sent to it again. */
const MAINTENANCE_REDIRECT = 302

/** A range that is none lets nobody in. */
export function compilePolicy({ allow, maintenance, rules, headers }: RoutePolicy): CompiledPolicy {
  const uri = maintenance?.uri ?? ''
  return {
    allowed: allow?.map(parseIpRange).filter((range) => range !== undefined),
    maintenance: maintenance && { uri, host: URL.parse(uri)?.hostname ?? '' },
    rules: compileRules({ ...(rules && { rules }), ...(headers && { headers }) }),
  }
}

export function answerOf(policy: CompiledPolicy, request: PolicyRequest): LocalResponse | undefined {
  const { head, name } = request
  if (policy.allowed !== undefined && !isInRanges(clientOf(request), policy.allowed)) return page(request, forbidden(name))
  if (policy.maintenance !== undefined) return maintenanceAnswer(policy.maintenance, request)
  if (policy.rules.redirects.length === 0) return undefined
  const { path, query } = rulePath(head.target)
  const redirect = redirectOf(policy.rules, path, query)
  return redirect && page(request, { status: redirect.status, title: 'Moved', text: `See ${redirect.location}` }, redirect.location)
}

export function headersOf({ rules }: CompiledPolicy, head: RequestHead): readonly Header[] {
  return rules.headers.length === 0 ? NO_HEADERS : ruledHeaders(rules, rulePath(head.target).path)
}

export const NO_HEADERS: readonly Header[] = []

/**
 * A target as rules see it: decoded once, with single slashes, since a destination made of what `*` stood for must not become the
 * `//host` of another site. A path that cannot be decoded is taken as it stands; unlike a site's files, an app may know it.
 */
export function rulePath(target: string): { path: string; query: string } {
  const queryAt = target.indexOf('?')
  const path = queryAt < 0 ? target : target.slice(0, queryAt)
  return { path: decoded(path).replace(/\/{2,}/g, '/'), query: queryAt < 0 ? '' : target.slice(queryAt) }
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

function clientOf({ head, client, isTrusted }: PolicyRequest): string {
  return forwardedClient(client.address, client.isTrusted ? fieldValue(head.fields, 'x-forwarded-for') : undefined, isTrusted)
}

/** Where the page would be at the very host that is asked, the redirect would never end: it is answered as without one. */
function maintenanceAnswer({ uri, host }: { uri: string; host: string }, request: PolicyRequest): LocalResponse {
  const { head, name } = request
  const text = `${name} is down for maintenance. Try again in a while.`
  const about = { title: 'Down for Maintenance', text, retryAfterSeconds: MAINTENANCE_RETRY_SECONDS }
  if (host === '' || host === head.host) return page(request, { status: 503, ...about })
  return page(request, { status: MAINTENANCE_REDIRECT, ...about }, uri)
}

const forbidden = (name: string): Page => ({ status: 403, title: 'Forbidden', text: `${name} cannot be reached from your address.` })

function page({ head }: PolicyRequest, content: Page, location?: string): LocalResponse {
  const response = pageResponse(content, fieldValue(head.fields, 'accept'))
  return location === undefined ? response : { ...response, headers: [['Location', location], ...response.headers] }
}
