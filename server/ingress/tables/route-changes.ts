import { type Static, Type } from '@sinclair/typebox'
import { DatabaseRoutes, NO_DATABASES } from './database-route.ts'
import { parseShape } from './parse-shape.ts'
import { canonicalHost, canonicalHosts, Route, type RouteTable, Stream } from './route-table.ts'

export const RouteChanges = Type.Object({
  base: Type.Integer({ minimum: 0 }),
  version: Type.Integer({ minimum: 0 }),
  hosts: Type.Record(Type.String(), Route),
  removed: Type.Array(Type.String()),
  /** All streams of the new table; absent where they are those of the base. */
  streams: Type.Optional(Type.Array(Stream)),
  databases: Type.Optional(DatabaseRoutes),
  removedDatabases: Type.Optional(Type.Array(Type.String())),
})
export type RouteChanges = Static<typeof RouteChanges>

export function routeChanges(base: RouteTable, next: RouteTable): RouteChanges {
  const hosts = changesOf(base.hosts, next.hosts)
  const databases = changesOf(base.databases ?? NO_DATABASES, next.databases ?? NO_DATABASES)
  const hasSameStreams = Bun.deepEquals(next.streams ?? [], base.streams ?? [])
  return {
    base: base.version,
    version: next.version,
    hosts: hosts.changed,
    removed: hosts.removed,
    ...(!hasSameStreams && { streams: next.streams ?? [] }),
    ...(Object.keys(databases.changed).length > 0 && { databases: databases.changed }),
    ...(databases.removed.length > 0 && { removedDatabases: databases.removed }),
  }
}

function changesOf<T>(base: Record<string, T>, next: Record<string, T>): { changed: Record<string, T>; removed: string[] } {
  const changed = Object.entries(next).filter(([key, value]) => !Bun.deepEquals(value, base[key]))
  return { changed: Object.fromEntries(changed), removed: Object.keys(base).filter((key) => !Object.hasOwn(next, key)) }
}

/** The table that `changes` make of `base`; routes that stay are the same objects. */
export function withRouteChanges(base: RouteTable, changes: RouteChanges): RouteTable {
  const hosts = changed(base.hosts, changes.hosts, changes.removed)
  const streams = changes.streams ?? base.streams
  const databases = changed(base.databases ?? NO_DATABASES, changes.databases ?? NO_DATABASES, changes.removedDatabases ?? [])
  const hasDatabases = Object.keys(databases).length > 0
  return { version: changes.version, hosts, ...(streams && { streams }), ...(hasDatabases && { databases }) }
}

function changed<T>(base: Record<string, T>, changes: Record<string, T>, removed: readonly string[]): Record<string, T> {
  const rows = { ...base }
  for (const key of removed) delete rows[key]
  return { ...rows, ...changes }
}

/** Brings host names into the form of the table. @throws AppError `validation_failed` naming the first place that is wrong. */
export function parseRouteChanges(value: unknown): RouteChanges {
  const changes = parseShape(RouteChanges, value, 'The changes of the route table are')
  return { ...changes, hosts: canonicalHosts(changes.hosts), removed: changes.removed.map(canonicalHost) }
}
