import { type Static, Type } from '@sinclair/typebox'
import { ProxyTarget } from './proxy-target.ts'

export const databaseKinds = ['postgres', 'key_value'] as const
export type DatabaseKind = (typeof databaseKinds)[number]

export const DatabaseState = Type.Union([Type.Literal('running'), Type.Literal('suspended'), Type.Literal('unavailable')])

/** One database or key-value store that is reached from outside. In the table its key is its id. */
export const DatabaseRoute = Type.Object({
  kind: Type.Union(databaseKinds.map((kind) => Type.Literal(kind))),
  name: Type.String(),
  /** The name that TLS is asked for: one of its own for a Postgres, the shared one for a key-value store. */
  host: Type.String({ minLength: 1 }),
  state: DatabaseState,
  targets: Type.Array(ProxyTarget),
  /** The name that leads to a pooler in place of the server, and where that listens at each target's address. */
  pool: Type.Optional(Type.Object({ host: Type.String({ minLength: 1 }), port: Type.Integer({ minimum: 1, maximum: 65_535 }) })),
  /** Ranges of addresses that are let in; empty for nobody. */
  allow: Type.Array(Type.String()),
})
export type DatabaseRoute = Static<typeof DatabaseRoute>

export const DatabaseRoutes = Type.Record(Type.String(), DatabaseRoute)
export type DatabaseRoutes = Static<typeof DatabaseRoutes>

export const NO_DATABASES: DatabaseRoutes = {}
