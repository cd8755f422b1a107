import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { replaceFile } from '../../../platform/files/replace-file.ts'

const FRESH_MS = 3_600_000

const Kept = Type.Object({ source: Type.String(), fetchedAt: Type.Number(), content: Type.Unknown() })

interface Listing<T extends TSchema> {
  dir: string
  name: string
  /** Who was asked: another one may have others. */
  source: string
  schema: T
  ask(): Promise<Static<T>>
  isEnough(kept: Static<T>): boolean
}

/** A list of what can be fetched. It is kept beside the entries of the store for an hour, or until it lacks what is wanted. */
export async function keptList<T extends TSchema>({ dir, name, source, schema, ask, isEnough }: Listing<T>): Promise<Static<T>> {
  const path = join(dir, `${name}.json`)
  const kept = await readKept(path)
  if (kept?.source === source && Math.abs(Date.now() - kept.fetchedAt) < FRESH_MS && Value.Check(schema, kept.content)) {
    if (isEnough(kept.content)) return kept.content
  }
  const content = await ask()
  const list: Static<typeof Kept> = { source, fetchedAt: Date.now(), content }
  await replaceFile(path, JSON.stringify(list), { incoming: join(dir, `incoming-${crypto.randomUUID()}`) })
  return content
}

async function readKept(path: string): Promise<Static<typeof Kept> | undefined> {
  try {
    const list: unknown = JSON.parse(await readFile(path, 'utf8'))
    return Value.Check(Kept, list) ? list : undefined
  } catch {
    return undefined
  }
}
