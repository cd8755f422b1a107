import { type Static, Type } from '@sinclair/typebox'
import { AppError } from '../../../shared/error.ts'
import { parseHost } from '../message/host.ts'
import { DatabaseRoutes } from './database-route.ts'
import { parseShape } from './parse-shape.ts'
import { ProxyTarget } from './proxy-target.ts'

/**
 * A rule of a site or service. `source` may hold `:name` for one segment and `*` for the rest; `destination` may use both.
 * A rewrite counts only where no file matches; a redirect without a status is a 301.
 */
export const PathRule = Type.Object({
  type: Type.Union([Type.Literal('redirect'), Type.Literal('rewrite')]),
  source: Type.String({ pattern: '^/' }),
  destination: Type.String({ pattern: '^(/|https?://)[!-~]*$' }),
  status: Type.Optional(Type.Integer({ minimum: 300, maximum: 399 })),
})
export type PathRule = Static<typeof PathRule>

/** A header added to the answers below a path; `path` may hold `*` anywhere and `:name` for one segment. */
export const HeaderRule = Type.Object({
  path: Type.String({ pattern: '^/' }),
  name: Type.String({ pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$" }),
  value: Type.String({ pattern: '^[\\t -~\\u0080-\\u00ff]*$' }),
})
export type HeaderRule = Static<typeof HeaderRule>

export const RoutePolicy = Type.Object({
  /** Ranges of addresses that are let in; absent for all, empty for none. */
  allow: Type.Optional(Type.Array(Type.String())),
  maintenance: Type.Optional(Type.Object({ uri: Type.Optional(Type.String({ pattern: '^https?://[!-~]+$' })) })),
  rules: Type.Optional(Type.Array(PathRule)),
  headers: Type.Optional(Type.Array(HeaderRule)),
})
export type RoutePolicy = Static<typeof RoutePolicy>

const named = { serviceId: Type.String({ minLength: 1 }), name: Type.String(), policy: Type.Optional(RoutePolicy) }

export const Route = Type.Union([
  Type.Object({
    kind: Type.Literal('proxy'),
    ...named,
    targets: Type.Array(ProxyTarget),
    /** Sent along with each request, to an upstream that is to know that it came through the ingress. Never logged. */
    proof: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9_-]+$' })),
  }),
  Type.Object({
    kind: Type.Literal('static'),
    ...named,
    releaseId: Type.String({ minLength: 1 }),
    root: Type.String({ pattern: '^/' }),
    headers: Type.Array(HeaderRule),
    rules: Type.Array(PathRule),
  }),
  Type.Object({ kind: Type.Literal('suspended'), ...named }),
  Type.Object({ kind: Type.Literal('asleep'), ...named }),
  Type.Object({ kind: Type.Literal('unavailable'), ...named, isUndeployed: Type.Optional(Type.Literal(true)) }),
])
export type Route = Static<typeof Route>
export type StaticRoute = Extract<Route, { kind: 'static' }>

export const Stream = Type.Object({
  listen: Type.Object({ host: Type.String({ pattern: '^127\\.' }), port: Type.Integer({ minimum: 1, maximum: 65_535 }) }),
  targets: Type.Array(ProxyTarget),
})
export type Stream = Static<typeof Stream>

/** Everything the ingress serves, as one value: it is applied whole or not at all. Hosts are names without a port. */
export const RouteTable = Type.Object({
  version: Type.Integer({ minimum: 0 }),
  hosts: Type.Record(Type.String(), Route),
  streams: Type.Optional(Type.Array(Stream)),
  databases: Type.Optional(DatabaseRoutes),
})
export type RouteTable = Static<typeof RouteTable>

export const EMPTY_ROUTE_TABLE: RouteTable = { version: 0, hosts: {} }

/** Brings host names into the form of the table. @throws AppError `validation_failed` naming the first place that is wrong. */
export function parseRouteTable(value: unknown): RouteTable {
  const { version, hosts, streams, databases } = parseShape(RouteTable, value, 'The route table is')
  return { version, hosts: canonicalHosts(hosts), ...(streams && { streams }), ...(databases && { databases }) }
}

export const canonicalHosts = (hosts: RouteTable['hosts']): RouteTable['hosts'] =>
  Object.fromEntries(Object.entries(hosts).map(([name, route]) => [canonicalHost(name), route]))

export function canonicalHost(name: string): string {
  const parsed = parseHost(name)
  if (parsed === undefined || parsed.port !== undefined)
    throw new AppError('validation_failed', `The route table names "${name}", which is no host name`)
  return parsed.host
}
