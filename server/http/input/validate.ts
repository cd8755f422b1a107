import '../../platform/schema-kinds.ts'
import { FormatRegistry, Kind, type TSchema } from '@sinclair/typebox'
import { type TypeCheck, TypeCompiler } from '@sinclair/typebox/compiler'
import { type ValueError, ValueErrorType } from '@sinclair/typebox/errors'
import { minPasswordChars } from '../../../shared/auth.ts'
import type { ErrorDetail } from '../../../shared/error.ts'
import { nearest } from '../../../shared/nearest.ts'
import { unsupportedFields } from '../../../shared/schema.ts'

/** A schema compiled at its first use: a start with hundreds of schemas stays quick. */
export interface Checker {
  accepts(value: unknown): boolean
  /** What is wrong with `value`, by JSON pointer, at most 20 places. Values are never repeated in messages. */
  problemsOf(value: unknown): ErrorDetail[]
}

const MAX_DETAILS = 20

// Patterns tell how a time is written, this whether there is such a time: no 13th month, no 25th hour.
FormatRegistry.Set('date-time', (text) => !Number.isNaN(Date.parse(text)))
FormatRegistry.Set('password', (text) => [...text].length >= minPasswordChars)

export function createChecker(schema: TSchema): Checker {
  let compiled: TypeCheck<TSchema> | undefined
  const mayHoldUnsupported = JSON.stringify(schema).includes('"x-unsupported":true')
  const check = () => {
    compiled ??= TypeCompiler.Compile(schema)
    return compiled
  }
  return {
    accepts: (value) => check().Check(value),
    problemsOf(value) {
      if (!check().Check(value)) return describe(check().Errors(value))
      if (!mayHoldUnsupported) return []
      return unsupportedFields(schema, value).map((path) => ({ path, message: 'is not supported by this server; leave it out' }))
    },
  }
}

function describe(errors: Iterable<ValueError>): ErrorDetail[] {
  const details = new Map<string, ErrorDetail>()
  for (const error of withoutNull(errors)) {
    if (details.size === MAX_DETAILS) break
    if (!details.has(error.path)) details.set(error.path, { path: error.path, message: messageOf(error) })
  }
  return [...details.values()]
}

/** What may be null as well is wrong for what is wrong with it, as only its one other form says. */
function* withoutNull(errors: Iterable<ValueError>): Generator<ValueError> {
  for (const error of errors) {
    const forms = error.type === ValueErrorType.Union ? (error.schema.anyOf as TSchema[]) : []
    const [other, ...more] = forms.flatMap((form, at) => (form[Kind] === 'Null' ? [] : [error.errors[at] ?? []]))
    if (other !== undefined && more.length === 0) yield* withoutNull(other)
    else yield error
  }
}

function messageOf({ type, message, schema, value }: ValueError): string {
  if (schema[Kind] === 'Unsafe' && Array.isArray(schema.enum)) return `${toldOf(schema, value)}must be one of ${schema.enum.join(', ')}`
  switch (type) {
    case ValueErrorType.ObjectAdditionalProperties:
      return 'is not a known field; remove it or check its spelling'
    case ValueErrorType.ObjectRequiredProperty:
      return 'is required'
    case ValueErrorType.StringPattern:
      return `does not have the form wanted here${exampleOf(schema)}`
    case ValueErrorType.StringFormat:
      return schema.format === 'password' ? `must have at least ${minPasswordChars} characters` : 'is not a time that exists'
    case ValueErrorType.Union:
      return `has none of the forms accepted here${exampleOf((schema.anyOf as TSchema[]).find(({ examples }) => Array.isArray(examples)) ?? schema)}`
    case ValueErrorType.StringMinLength:
      return schema.minLength === 1 ? 'must not be empty' : `must have at least ${schema.minLength} characters`
    case ValueErrorType.StringMaxLength:
      return `must have at most ${schema.maxLength} characters`
    case ValueErrorType.IntegerMinimum:
    case ValueErrorType.NumberMinimum:
      return `must be at least ${schema.minimum}`
    case ValueErrorType.IntegerMaximum:
    case ValueErrorType.NumberMaximum:
      return `must be at most ${schema.maximum}`
    case ValueErrorType.ArrayMinItems:
      return `must have at least ${schema.minItems} ${schema.minItems === 1 ? 'item' : 'items'}`
    case ValueErrorType.ArrayMaxItems:
      return `must have at most ${schema.maxItems} items`
    default:
      return typeMessages[type] ?? message.charAt(0).toLowerCase() + message.slice(1)
  }
}

const typeMessages: Partial<Record<ValueErrorType, string>> = {
  [ValueErrorType.String]: 'must be a string',
  [ValueErrorType.Integer]: 'must be a whole number',
  [ValueErrorType.Number]: 'must be a number',
  [ValueErrorType.Boolean]: 'must be true or false',
  [ValueErrorType.Array]: 'must be an array',
  [ValueErrorType.Object]: 'must be an object',
}

const MAX_TOLD_CHARS = 64

const toldOf = (schema: TSchema, value: unknown): string =>
  schema['x-told'] === true && typeof value === 'string' ? told(value.slice(0, MAX_TOLD_CHARS), schema.enum as string[]) : ''

function told(given: string, known: readonly string[]): string {
  const meant = nearest(given, known)
  return `is ${JSON.stringify(given)}${meant === undefined ? '' : ` (is ${meant} meant?)`}, but `
}

const exampleOf = (schema: TSchema): string => (Array.isArray(schema.examples) ? `, such as ${JSON.stringify(schema.examples[0])}` : '')
