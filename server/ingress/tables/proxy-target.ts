import { type Static, Type } from '@sinclair/typebox'

export const ProxyTarget = Type.Object({
  instanceId: Type.String({ minLength: 1 }),
  host: Type.String({ minLength: 1 }),
  port: Type.Integer({ minimum: 1, maximum: 65_535 }),
})
export type ProxyTarget = Static<typeof ProxyTarget>
