import { type Static, Type } from '@sinclair/typebox'
import { Id } from './id.ts'
import { StrictObject, Time, visibleChar } from './schema.ts'

export const Workspace = Type.Object({ id: Id('workspace'), name: Type.String() })
export type Workspace = Static<typeof Workspace>

export const Owner = Type.Object({ id: Id('workspace'), name: Type.String(), email: Type.String(), type: Type.Literal('team') })
export type Owner = Static<typeof Owner>

export const WorkspaceDetails = Type.Object({
  id: Id('workspace'),
  name: Type.String(),
  email: Type.String({ description: 'Of who made it' }),
  requiresTwoFactor: Type.Boolean({ description: 'Members without a second factor are refused until they set one up' }),
  createdAt: Time,
})
export type WorkspaceDetails = Static<typeof WorkspaceDetails>

const WorkspaceName = Type.String({ minLength: 1, maxLength: 100, pattern: `^${visibleChar}*$`, examples: ['Acme'] })

export const WorkspaceCreate = StrictObject({ name: WorkspaceName })
export type WorkspaceCreate = Static<typeof WorkspaceCreate>

export const WorkspacePatch = StrictObject({ name: Type.Optional(WorkspaceName), requiresTwoFactor: Type.Optional(Type.Boolean()) })
export type WorkspacePatch = Static<typeof WorkspacePatch>
