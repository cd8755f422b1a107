import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

const Embedded = Type.Object({
  kind: Type.Union([Type.Literal('postgres'), Type.Literal('valkey')]),
  name: Type.String(),
  version: Type.String(),
  archive: Type.String(),
})
export type EmbeddedProgram = Static<typeof Embedded>

const DIST = resolve(import.meta.dirname, '../../../dist/programs')

/** What a build has left beside a checkout. The build of an executable puts a list of what is inside of it in place of this file. */
export const embedded: readonly EmbeddedProgram[] = listedIn(join(DIST, 'list.json'))

function listedIn(file: string): EmbeddedProgram[] {
  if (!existsSync(file)) return []
  const listed: unknown = JSON.parse(readFileSync(file, 'utf8'))
  return Value.Check(Type.Array(Embedded), listed) ? listed.map((program) => ({ ...program, archive: join(DIST, program.archive) })) : []
}
