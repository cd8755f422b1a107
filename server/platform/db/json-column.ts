/**
 * Values kept as JSON with a version, the number of `upgrades` that a text has been through, as member `v` of an object. A text without
 * one is of version 0, and none is written while there is no upgrade. What is no object becomes one with its first upgrade.
 */
import { type Static, type TObject, type TSchema, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { memo } from '../memo.ts'
import '../schema-kinds.ts'
import type { Codec } from './codec.ts'

export interface JsonOptions<S extends TSchema> {
  schema: S
  upgrades?: readonly ((value: unknown) => unknown)[]
  /** Members for values that were written before there were such. */
  defaults?: Partial<Static<S>>
  remembered?: number
}

/** @throws Error from `read` when a text is no JSON, does not fit the schema, or is of a newer version. */
export function json<S extends TSchema>({ schema, upgrades = [], defaults, remembered }: JsonOptions<S>): Codec<Static<S>> {
  const parse = (text: string): Static<S> => checked(schema, completed(upgraded(JSON.parse(text), upgrades), defaults))
  const read = remembered === undefined ? parse : memo((text: string) => Object.freeze(parse(text)), remembered)
  return {
    read(stored) {
      if (typeof stored !== 'string') throw new Error('is no text')
      return read(stored)
    },
    write: (value) => JSON.stringify(upgrades.length === 0 ? value : withVersion(value, upgrades.length)),
  }
}

export const texts = json({ schema: Type.Array(Type.String()) })

/** An object as clients send it, without the limits of its texts: what was kept when they were others stays readable. */
export function unlimited<T extends TObject>({ properties }: T): T {
  const loose = Object.entries(properties).map(([name, field]) => [
    name,
    field.type === 'string' && !('enum' in field) ? Type.String() : field,
  ])
  return Type.Object(Object.fromEntries(loose)) as TSchema as T
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)

function withVersion(value: unknown, v: number): unknown {
  if (!isObject(value)) throw new Error('Only an object can be kept with a version')
  return { v, ...value }
}

function upgraded(stored: unknown, upgrades: readonly ((value: unknown) => unknown)[]): unknown {
  const { version, value } = versionOf(stored)
  if (version > upgrades.length) throw new Error(`is of version ${version}, this executable knows only version ${upgrades.length}`)
  return upgrades.slice(version).reduce((older, upgrade) => upgrade(older), value)
}

const completed = (value: unknown, defaults: object | undefined): unknown =>
  defaults === undefined || !isObject(value) ? value : { ...defaults, ...value }

function versionOf(stored: unknown): { version: number; value: unknown } {
  if (!isObject(stored) || typeof stored.v !== 'number') return { version: 0, value: stored }
  const { v: version, ...value } = stored
  return { version, value }
}

function checked<S extends TSchema>(schema: S, value: unknown): Static<S> {
  if (Value.Check(schema, value)) return value
  const first = Value.Errors(schema, value).First()
  throw new Error(`${first?.path || '/'}: ${first?.message ?? 'does not fit'}`)
}
