import type { TSchema } from '@sinclair/typebox'

/** How cpctl offers a field of a body as an option. Choices, ranges and kinds of values are those of the field's schema. */
interface FieldOption {
  /** Long name without its dashes. */
  name: string
  help: string
  /** Placeholder of the value; absent for a switch. */
  value?: string
  helpOfNo?: string
  /** What people write in place of the field's own form. */
  writtenAs?: 'duration' | 'addresses'
  /** The field is in force at once, and no part of a release. */
  isAtOnce?: true
}

export interface OptionRow extends FieldOption {
  path: string[]
  schema: TSchema
}

/** The schema of a field that cpctl offers as an option. */
export const withOption = <T extends TSchema>(option: FieldOption, schema: T): T => ({ ...schema, 'x-option': option })

/** All fields of a body that have an option, in the order of the schema. Several fields may share one. */
export function optionsOf(schema: TSchema, path: string[] = []): OptionRow[] {
  const own = schema['x-option'] as FieldOption | undefined
  const properties = Object.entries((schema.properties ?? {}) as Record<string, TSchema>)
  return [
    ...(own === undefined ? [] : [{ ...own, path, schema }]),
    ...properties.flatMap(([key, property]) => optionsOf(property, [...path, key])),
  ]
}
