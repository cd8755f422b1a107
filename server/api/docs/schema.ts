import type { TSchema } from '@sinclair/typebox'

export type JsonObject = Record<string, unknown>

export type Components = Record<string, JsonObject>

/** Translates to OpenAPI 3.0, which has no `const`, null type or `patternProperties`. Schemas with an `$id` become references into `components`. */
export function toOpenApiSchema(schema: TSchema, components: Components): JsonObject {
  const { $id } = schema
  if (typeof $id !== 'string') return translate(schema, components)
  if (components[$id] === undefined) {
    components[$id] = {}
    components[$id] = translate(schema, components)
  }
  return { $ref: `#/components/schemas/${$id}` }
}

function translate(schema: TSchema, components: Components): JsonObject {
  const { $id: _, const: constant, examples, patternProperties, anyOf, properties, items, additionalProperties, ...rest } = schema
  if (isObject(rest['x-variants'])) return variantsOf(schema, components)
  const result: JsonObject = { ...withoutSymbols(rest) }
  const inner = (value: unknown) => toOpenApiSchema(value as TSchema, components)
  if (constant !== undefined) result.enum = [constant]
  if (Array.isArray(examples)) result.example = examples[0]
  if (isObject(properties)) result.properties = Object.fromEntries(Object.entries(properties).map(([name, value]) => [name, inner(value)]))
  if (items !== undefined) result.items = inner(items)
  const open = isObject(patternProperties) ? Object.values(patternProperties)[0] : additionalProperties
  if (open !== undefined) result.additionalProperties = isObject(open) ? inner(open) : open
  return Array.isArray(anyOf) ? { ...result, ...alternatives(anyOf as TSchema[], components) } : result
}

/** An object whose fields depend on what it belongs to: each kind under its own name, with the fields that it has. */
function variantsOf({ 'x-variants': variants, ...schema }: TSchema, components: Components): JsonObject {
  const properties = Object.entries(schema.properties as Record<string, TSchema>)
  const anyOf = Object.entries(variants as Record<string, readonly string[]>).map(([$id, names]) => {
    const own = Object.fromEntries(properties.filter(([name]) => names.includes(name)))
    return toOpenApiSchema({ ...schema, $id, properties: own } as TSchema, components)
  })
  return { type: 'object', anyOf }
}

function alternatives(members: TSchema[], components: Components): JsonObject {
  const others = members.filter(({ type }) => type !== 'null').map((member) => toOpenApiSchema(member, components))
  const nullable = others.length < members.length ? { nullable: true } : {}
  const [only] = others
  // OpenAPI 3.0 knows nullable only beside a type.
  const type = others.every((other) => other.type === only?.type) && only?.type !== undefined ? { type: only.type } : {}
  if (others.length !== 1 || only === undefined) return { anyOf: others, ...nullable, ...type }
  return '$ref' in only ? { allOf: [only], ...nullable } : { ...only, ...nullable }
}

export function exampleOf(schema: TSchema): unknown {
  if (Array.isArray(schema.examples)) return schema.examples[0]
  if (schema.const !== undefined) return schema.const
  if (Array.isArray(schema.enum)) return schema.enum[0]
  if (Array.isArray(schema.anyOf)) return exampleOf(schema.anyOf[0] as TSchema)
  switch (schema.type) {
    case 'object':
      return exampleObject(schema)
    case 'array':
      return [exampleOf(schema.items as TSchema)]
    case 'integer':
    case 'number':
      return schema.default ?? schema.minimum ?? 1
    case 'boolean':
      return true
    case 'string':
      return 'text'
    default:
      return null
  }
}

function exampleObject({ properties = {}, required = [] }: TSchema): JsonObject {
  const entries = Object.entries(properties as Record<string, TSchema>)
  const shown = entries.filter(([name, { examples }]) => (required as string[]).includes(name) || examples !== undefined)
  return Object.fromEntries(shown.map(([name, property]) => [name, exampleOf(property)]))
}

const isObject = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null

const withoutSymbols = (value: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(value).filter(([key, held]) => held !== undefined && key !== 'x-option'))
