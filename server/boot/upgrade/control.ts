import { type Static, Type } from '@sinclair/typebox'

/** What the commands of this machine ask of a running control plane, over a socket that only its own user can reach. */

export const ServeStatus = Type.Object({
  pid: Type.Integer(),
  version: Type.String(),
  /** At which path its executable stands; absent for one that runs from its sources. */
  executable: Type.Optional(Type.String()),
  api: Type.Object({ host: Type.String(), port: Type.Integer() }),
})
export type ServeStatus = Static<typeof ServeStatus>

export const BackUpRequest = Type.Object({ folder: Type.String() })

export const UpgradeRequest = Type.Object({
  /** How long the new version may take to become healthy. */
  healthTimeoutMs: Type.Integer({ minimum: 1 }),
})
export type UpgradeRequest = Static<typeof UpgradeRequest>

export const servePaths = { status: '/status', backUp: '/back-up', upgrade: '/upgrade' }
