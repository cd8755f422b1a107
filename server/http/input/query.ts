import type { TObject, TSchema } from '@sinclair/typebox'
import { AppError } from '../../../shared/error.ts'
import { pageItems } from '../../../shared/schema.ts'

export type QueryReader = (url: string) => Record<string, unknown>

interface Field {
  name: string
  read(values: string[]): unknown
  fallback: unknown
}

/** Arrays are comma-joined or repeated; empty values count as absent; `limit` is clamped and defaults apply. */
export function createQueryReader(schema: TObject): QueryReader {
  const fields = Object.entries(schema.properties).map(([name, property]) => fieldOf(name, property))
  const fallbacks = Object.fromEntries(fields.flatMap(({ name, fallback }) => (fallback === undefined ? [] : [[name, fallback]])))
  return (url) => {
    const query: Record<string, unknown> = { ...fallbacks }
    const start = url.indexOf('?')
    if (start === -1) return query
    const given = new URLSearchParams(url.slice(start + 1))
    for (const { name, read } of fields) {
      const values = given.getAll(name).filter((value) => value !== '')
      if (values.length > 0) query[name] = read(values)
    }
    return query
  }
}

function fieldOf(name: string, schema: TSchema): Field {
  const fallback: unknown = schema.default
  if (schema.type === 'array') {
    const readItem = readerOf(schema.items as TSchema)
    const split = (values: string[]) => values.flatMap((value) => value.split(',')).filter((value) => value !== '')
    return { name, fallback, read: (values) => split(values).map(readItem) }
  }
  const readOne = readerOf(schema)
  const read = (values: string[]) => {
    const [value = ''] = values
    if (values.length > 1)
      throw new AppError('validation_failed', `Give ${name} only once.`, {
        details: [{ path: `/${name}`, message: 'is given more than once' }],
      })
    return name === 'limit' ? clamped(readOne(value), schema) : readOne(value)
  }
  return { name, fallback, read }
}

const clamped = (limit: unknown, { 'x-clamped': most = pageItems.most }: TSchema): unknown =>
  typeof limit === 'number' ? Math.min(limit, most as number) : limit

function readerOf(schema: TSchema): (value: string) => unknown {
  if (schema.type === 'integer') return (value) => (/^-?\d{1,100}$/.test(value) ? Number(value) : value)
  if (schema.type === 'number') return (value) => (/^-?\d{1,100}(\.\d{1,100})?$/.test(value) ? Number(value) : value)
  if (schema.type === 'boolean') return (value) => (value === 'true' || value === 'false' ? value === 'true' : value)
  return (value) => value
}
