import { type Static, Type } from '@sinclair/typebox'
import { Id, type IdKind } from './id.ts'
import { StrictObject } from './schema.ts'

/** How many services, environments and projects one scope may name, of each kind. */
export const maxScopeIds = 100

const idsOf = (kind: IdKind, description: string) => Type.Optional(Type.Array(Id(kind), { maxItems: maxScopeIds, description }))

/** What a key, member or invite is confined to, in a body: null or left out is the whole workspace. */
export const ScopeInput = Type.Union(
  [
    StrictObject({
      serviceIds: idsOf('service', 'Services it may touch, wherever they are moved'),
      environmentIds: idsOf('environment', 'Environments whose services it may touch, those that will be made or moved there included'),
      projectIds: idsOf('project', 'Projects whose environments it may touch, those to come included'),
    }),
    Type.Null(),
  ],
  {
    examples: [{ serviceIds: ['srv-0b1c2d3e4f5g6h7i8j9k'] }],
    description: 'At least one id; whoever is confined holds no permission of the workspace as a whole. Null is the whole workspace',
  },
)
export type ScopeInput = Static<typeof ScopeInput>

/** What was deleted is left out, so there may be nothing left: then nothing may be touched. */
export const Scope = Type.Union(
  [
    Type.Object({
      serviceIds: Type.Array(Id('service')),
      environmentIds: Type.Optional(Type.Array(Id('environment'))),
      projectIds: Type.Optional(Type.Array(Id('project'))),
    }),
    Type.Null(),
  ],
  { description: 'What it may touch; null is the whole workspace' },
)
export type Scope = Static<typeof Scope>
