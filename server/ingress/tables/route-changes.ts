import { type Static, Type } from '@sinclair/typebox'
import { parseShape } from './parse-shape.ts'
import { canonicalHost, canonicalHosts, Route, type RouteTable, Stream } from './route-table.ts'

export const RouteChanges = Type.Object({
  base: Type.Integer({ minimum: 0 }),
  version: Type.Integer({ minimum: 0 }),
  hosts: Type.Record(Type.String(), Route),
  removed: Type.Array(Type.String()),
  /** All streams of the new table; absent where they are those of the base. */
  streams: Type.Optional(Type.Array(Stream)),
})
export type RouteChanges = Static<typeof RouteChanges>

export function routeChanges(base: RouteTable, next: RouteTable): RouteChanges {
  const changed = Object.entries(next.hosts).filter(([host, route]) => !Bun.deepEquals(route, base.hosts[host]))
  const removed = Object.keys(base.hosts).filter((host) => !Object.hasOwn(next.hosts, host))
  const hasSameStreams = Bun.deepEquals(next.streams ?? [], base.streams ?? [])
  return {
    base: base.version,
    version: next.version,
    hosts: Object.fromEntries(changed),
    removed,
    ...(!hasSameStreams && { streams: next.streams ?? [] }),
  }
}

/** The table that `changes` make of `base`; routes that stay are the same objects. */
export function withRouteChanges(base: RouteTable, changes: RouteChanges): RouteTable {
  const hosts = { ...base.hosts }
  for (const host of changes.removed) delete hosts[host]
  const streams = changes.streams ?? base.streams
  return { version: changes.version, hosts: { ...hosts, ...changes.hosts }, ...(streams && { streams }) }
}

/** Brings host names into the form of the table. @throws AppError `validation_failed` naming the first place that is wrong. */
export function parseRouteChanges(value: unknown): RouteChanges {
  const changes = parseShape(RouteChanges, value, 'The changes of the route table are')
  return { ...changes, hosts: canonicalHosts(changes.hosts), removed: changes.removed.map(canonicalHost) }
}
