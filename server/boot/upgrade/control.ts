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

export const servePaths = { status: '/status', backUp: '/back-up', upgrade: '/upgrade' }
