import { type Static, Type } from '@sinclair/typebox'
import { Id } from './id.ts'
import { StrictObject } from './schema.ts'

export const maxScopeServices = 100

/** What a key, member or invite is confined to, in a body: null or left out is the whole workspace. */
export const ScopeInput = Type.Union(
  [
    StrictObject({
      serviceIds: Type.Array(Id('service'), {
        minItems: 1,
        maxItems: maxScopeServices,
        description: 'The services it may touch; it holds no permission of the workspace as a whole',
      }),
    }),
    Type.Null(),
  ],
  { examples: [{ serviceIds: ['srv-0b1c2d3e4f5g6h7i8j9k'] }], description: 'Null is the whole workspace' },
)
export type ScopeInput = Static<typeof ScopeInput>

/** Services that were deleted are left out, so there may be none left: then nothing may be touched. */
export const Scope = Type.Union([Type.Object({ serviceIds: Type.Array(Id('service')) }), Type.Null()], {
  description: 'The services it may touch; null is the whole workspace',
})
export type Scope = Static<typeof Scope>
