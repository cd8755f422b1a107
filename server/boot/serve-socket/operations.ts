import { type Static, Type } from '@sinclair/typebox'

export const ServeStatus = Type.Object({
  pid: Type.Integer(),
  version: Type.String(),
  executable: Type.Optional(Type.String()),
  api: Type.Object({ host: Type.String(), port: Type.Integer() }),
})
export type ServeStatus = Static<typeof ServeStatus>

export const BackUpRequest = Type.Object({ folder: Type.String() })

export const UpgradeRequest = Type.Object({
  healthTimeoutMs: Type.Integer({ minimum: 1 }),
})
export type UpgradeRequest = Static<typeof UpgradeRequest>

/** What an engine runs though the database does not know it. The service is named where it is known at least. */
export const ListedStray = Type.Object({
  id: Type.String(),
  serviceId: Type.String(),
  serviceName: Type.Optional(Type.String()),
  workspaceId: Type.Optional(Type.String()),
  foundAt: Type.String(),
  endsAt: Type.String(),
})
export type ListedStray = Static<typeof ListedStray>

export const ListedStrays = Type.Array(ListedStray)

export const EndStraysRequest = Type.Object({ ids: Type.Array(Type.String()) })

/** What a bucket says of the backups of a database. `id` is the name of a file where that cannot be read. */
export const DescribedSet = Type.Object({
  id: Type.String(),
  name: Type.Optional(Type.String()),
  kind: Type.Optional(Type.String()),
  version: Type.Optional(Type.String()),
  backups: Type.Optional(Type.Integer()),
  from: Type.Optional(Type.String()),
  until: Type.Optional(Type.String()),
  state: Type.Optional(Type.String()),
  problem: Type.Optional(Type.String()),
})
export type DescribedSet = Static<typeof DescribedSet>

export const DescribedSets = Type.Array(DescribedSet)

export const DescribedRequest = Type.Object({ key: Type.String() })

export const AdoptRequest = Type.Object({
  key: Type.String(),
  ids: Type.Array(Type.String()),
  workspaceId: Type.Optional(Type.String()),
})
export type AdoptRequest = Static<typeof AdoptRequest>

export const servePaths = {
  status: '/status',
  backUp: '/back-up',
  upgrade: '/upgrade',
  strays: '/strays',
  endStrays: '/strays/end',
  described: '/backups/described',
  adopt: '/backups/adopt',
}
