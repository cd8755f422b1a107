import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { replaceFile } from '../../../platform/files/replace-file.ts'
import type { Fetching } from '../registry/download.ts'
import { type Dist, packageVersions } from '../registry/npm-registry.ts'
import { npmSettings } from '../registry/way.ts'

export const NODE_PACKAGE = `node-linux-${process.arch}`

const FRESH_MS = 3_600_000

const List = Type.Object({
  registry: Type.String(),
  fetchedAt: Type.Number(),
  versions: Type.Record(Type.String(), Type.Object({ tarball: Type.String(), integrity: Type.String() })),
})
type List = Static<typeof List>

type Versions = Record<string, Dist>

/** What the registry has of Node.js. The list is kept beside the entries of the store for an hour, or until it lacks what is wanted. */
export async function nodeVersions(dir: string, fetching: Fetching, isEnough: (kept: Versions) => boolean): Promise<Versions> {
  const { registry } = npmSettings(fetching.env)
  const path = join(dir, `${NODE_PACKAGE}.json`)
  const kept = await readList(path)
  if (kept?.registry === registry && Math.abs(Date.now() - kept.fetchedAt) < FRESH_MS && isEnough(kept.versions)) return kept.versions
  const list: List = { registry, fetchedAt: Date.now(), versions: await packageVersions(NODE_PACKAGE, fetching) }
  await replaceFile(path, JSON.stringify(list), { incoming: join(dir, `incoming-${crypto.randomUUID()}`) })
  return list.versions
}

async function readList(path: string): Promise<List | undefined> {
  try {
    const list: unknown = JSON.parse(await readFile(path, 'utf8'))
    return Value.Check(List, list) ? list : undefined
  } catch {
    return undefined
  }
}
