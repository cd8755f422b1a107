import { type Static, Type } from '@sinclair/typebox'
import { Id } from './id.ts'

export const Workspace = Type.Object({ id: Id('workspace'), name: Type.String() })
export type Workspace = Static<typeof Workspace>

export const Owner = Type.Object({ id: Id('workspace'), name: Type.String(), email: Type.String(), type: Type.Literal('team') })
export type Owner = Static<typeof Owner>
