import { type Static, Type } from '@sinclair/typebox'
import { OneOf } from './schema.ts'

const healthStates = ['ok', 'degraded', 'down'] as const

export const Health = Type.Object({
  status: OneOf(healthStates),
  version: Type.String(),
  checks: Type.Record(Type.String(), Type.Object({ status: OneOf(healthStates), message: Type.Optional(Type.String()) })),
})
export type Health = Static<typeof Health>

export const Status = Type.Object({
  status: OneOf(healthStates),
  components: Type.Array(Type.Object({ name: Type.String(), status: OneOf(healthStates) })),
  incidents: Type.Array(Type.Object({ title: Type.String(), startedAt: Type.String() })),
})
export type Status = Static<typeof Status>
