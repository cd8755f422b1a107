import { type Static, Type } from '@sinclair/typebox'
import { Id } from './id.ts'
import { OneOf, PageQuery, StrictObject } from './schema.ts'

/**
 * Rules by which the ingress answers for a service: headers that it sets, and paths that lead elsewhere, the first that fits.
 */

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

/** As a rule of a path is sent: without a priority it stands where it is in the list. */
const PathRuleInput = StrictObject({ ...pathFields, priority: Type.Optional(priority) })
export type PathRuleInput = Static<typeof PathRuleInput>

export const HeaderRulesInput = Type.Array(HeaderRule, { maxItems: maxEdgeRules })
export const PathRulesInput = Type.Array(PathRuleInput, { maxItems: maxEdgeRules })

/** A rule of headers under an id that is its own as long as it stays as it is. */
export const ServiceHeader = Type.Object({ id: Id('headerRule'), ...headerFields }, { $id: 'ServiceHeader' })
export type ServiceHeader = Static<typeof ServiceHeader>

/** A rule of a path under an id that is its own as long as it stays as it is. */
export const ServiceRoute = Type.Object({ id: Id('pathRule'), ...pathFields, priority }, { $id: 'ServiceRoute' })
export type ServiceRoute = Static<typeof ServiceRoute>

export const EdgeRuleQuery = Type.Object(PageQuery)
