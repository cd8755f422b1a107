import { type Static, Type } from '@sinclair/typebox'
import { Id } from './id.ts'
import { OneOf, PageQuery, StrictObject } from './schema.ts'

export const maxEdgeRules = 200
/** Characters of the patterns of a service's rules together: each request is compared with them, on the one thread that serves everybody. */
export const maxPatternChars = 16_384

const headerFields = {
  path: Type.String({ maxLength: 1024, pattern: '^/[!-~]*$', examples: ['/assets/*'] }),
  name: Type.String({ maxLength: 128, pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$", examples: ['Cache-Control'] }),
  value: Type.String({ maxLength: 4096, pattern: '^[ -~]*$', examples: ['public, max-age=31536000, immutable'] }),
}
const pathFields = {
  type: OneOf(['redirect', 'rewrite']),
  source: Type.String({ maxLength: 1024, pattern: '^/[!-~]*$', examples: ['/*'] }),
  destination: Type.String({ maxLength: 1024, pattern: '^(/|https?://)[!-~]*$', examples: ['/index.html'] }),
}
const priority = Type.Integer({ minimum: 0, maximum: 1_000_000, description: 'Smaller ones are tried first', examples: [0] })

export const HeaderRule = StrictObject(headerFields)
export type HeaderRule = Static<typeof HeaderRule>
export const PathRule = StrictObject(pathFields)
export type PathRule = Static<typeof PathRule>

/** A rule without a priority stands where it is in the list. */
const PathRuleInput = StrictObject({ ...pathFields, priority: Type.Optional(priority) })
export type PathRuleInput = Static<typeof PathRuleInput>

export const HeaderRulesInput = Type.Array(HeaderRule, { maxItems: maxEdgeRules })
export const PathRulesInput = Type.Array(PathRuleInput, { maxItems: maxEdgeRules })

export const ServiceHeader = Type.Object({ id: Id('headerRule'), ...headerFields }, { $id: 'ServiceHeader' })
export type ServiceHeader = Static<typeof ServiceHeader>

/** The id stays as long as the rule does. */
export const ServiceRoute = Type.Object({ id: Id('pathRule'), ...pathFields, priority }, { $id: 'ServiceRoute' })
export type ServiceRoute = Static<typeof ServiceRoute>

export const EdgeRuleQuery = Type.Object(PageQuery)
