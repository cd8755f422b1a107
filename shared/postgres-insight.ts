import { type Static, Type } from '@sinclair/typebox'
import { OneOf, Time } from './schema.ts'

/** How much of a statement is told, in characters, and how many rows of each kind. */
export const insightLimits = { queryLength: 2000, rows: 100 }

export const queryOrders = ['total', 'mean', 'calls'] as const
export type QueryOrder = (typeof queryOrders)[number]

const Nullable = <T extends ReturnType<typeof Type.String | typeof Type.Number>>(type: T) => Type.Union([type, Type.Null()])

export const PostgresStatement = Type.Object(
  {
    query: Type.String({ description: 'Values are left out, as $1 and so on' }),
    user: Nullable(Type.String()),
    calls: Type.Number(),
    totalMs: Type.Number(),
    meanMs: Type.Number(),
    maxMs: Type.Number(),
    rows: Type.Number(),
    cacheHitRatio: Nullable(Type.Number({ description: 'Share of the pages that were in memory, 0 to 1' })),
  },
  { $id: 'PostgresStatement' },
)
export type PostgresStatement = Static<typeof PostgresStatement>

const session = {
  pid: Type.Integer(),
  user: Nullable(Type.String()),
  state: Nullable(Type.String({ examples: ['active', 'idle', 'idle in transaction'] })),
  query: Type.String(),
}

export const PostgresConnection = Type.Object({
  ...session,
  database: Nullable(Type.String()),
  application: Type.String(),
  waitsFor: Nullable(Type.String({ description: 'Such as Lock: transactionid' })),
  connectedAt: Time,
  stateMs: Nullable(Type.Number({ description: 'How long it has been in this state' })),
  transactionMs: Nullable(Type.Number({ description: 'How long its transaction has been open' })),
})
export type PostgresConnection = Static<typeof PostgresConnection>

export const PostgresConnections = Type.Object(
  {
    limit: Type.Integer({ description: 'How many the database takes from outside of the platform' }),
    open: Type.Integer(),
    cacheHitRatio: Nullable(Type.Number({ description: 'Share of the pages that were in memory, 0 to 1' })),
    connections: Type.Array(PostgresConnection, { description: 'The longest in their transaction first, then the busy ones' }),
  },
  { $id: 'PostgresConnections' },
)
export type PostgresConnections = Static<typeof PostgresConnections>

export const PostgresLock = Type.Object(
  {
    ...session,
    waitMs: Nullable(Type.Number()),
    lock: Type.String({ examples: ['ShareLock on transactionid'] }),
    relation: Nullable(Type.String()),
    blockedBy: Type.Array(Type.Object(session)),
  },
  { $id: 'PostgresLock', description: 'One that waits, and for whom' },
)
export type PostgresLock = Static<typeof PostgresLock>

export const PostgresTable = Type.Object(
  {
    schema: Type.String(),
    table: Type.String(),
    sizeBytes: Type.Number({ description: 'Indexes and large values included' }),
    indexBytes: Type.Number(),
    liveRows: Type.Number(),
    deadRows: Type.Number(),
    deadRatio: Type.Number({ description: 'Share of the rows that are dead, 0 to 1: vacuum makes room of them' }),
    vacuumedAt: Nullable(Time),
    analyzedAt: Nullable(Time),
  },
  { $id: 'PostgresTable' },
)
export type PostgresTable = Static<typeof PostgresTable>

export const PostgresQueriesQuery = Type.Object({
  order: Type.Optional(OneOf(queryOrders, 'What comes first: most time in all, most time each, most calls')),
})
