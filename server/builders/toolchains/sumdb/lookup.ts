import { Absent, type Fetching, fetchBytes, fetchText, Unfetched } from '../registry/download.ts'
import { goSources, goWay } from '../registry/go-proxies.ts'
import type { SumDb } from './settings.ts'
import { openTreeHead } from './signed-tree.ts'
import { isInTree, type Tile, tilePath } from './tree.ts'

const MOST_ANSWER_BYTES = 64 * 1024
const HASH_BYTES = 32

/** No way leads to the database; what it would have said is not known. */
export class Unreachable extends Unfetched {}

/**
 * The hash that a checksum database has of a module: out of a record that stands in the tree which it has signed, whoever hands it on.
 * @throws Unreachable where it cannot be asked; Unfetched where it does not know the module, or the answer is not its own.
 */
export async function lookUpHash(db: SumDb, module: { path: string; version: string }, fetching: Fetching): Promise<string> {
  const asking = { way: goWay(fetching.env), signal: fetching.signal, mostBytes: MOST_ANSWER_BYTES }
  const base = await wayTo(db, fetching)
  const answer = await answered(db, () => fetchText(new URL(`${base}/lookup/${module.path}@${module.version}`), asking))
  const [, id, text = '', note = ''] = /^(\d{1,15})\n([\s\S]*?\n)\n([\s\S]*)$/.exec(answer) ?? []
  const head = openTreeHead(note, db)
  const readTile = async (tile: Tile) => {
    const bytes = await answered(db, () => fetchBytes(new URL(`${base}/${tilePath(tile)}`), asking))
    if (bytes.length !== tile.width * HASH_BYTES) throw new Unfetched(`what came as a part of ${db.name} is none`)
    return bytes
  }
  if (!(await isInTree({ id: Number(id), text }, head, readTile)))
    throw new Unfetched(`what came as a record of the checksum database ${db.name} is none of its own`)
  const line = text.split('\n').find((one) => one.startsWith(`${module.path} ${module.version} h1:`))
  if (line === undefined) throw new Unfetched(`the checksum database ${db.name} answered for another module`)
  return line.slice(line.lastIndexOf(' ') + 1)
}

/** Through a proxy that says that it leads there, as `go` does it, else straight. */
async function wayTo({ name, url }: SumDb, { env, signal }: Fetching): Promise<string> {
  for (const { base } of goSources(env)) {
    const path = `${base}/sumdb/${name}`
    if (!URL.canParse(path)) continue
    try {
      await fetchText(new URL(`${path}/supported`), { way: goWay(env), signal, mostBytes: MOST_ANSWER_BYTES })
      return path
    } catch (error) {
      if (!(error instanceof Unfetched)) throw error
    }
  }
  return url
}

async function answered<T>(db: SumDb, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof Absent) throw new Unfetched(`the checksum database ${db.name} does not know it`, { cause: error })
    throw error instanceof Unfetched ? new Unreachable(error.message, { cause: error }) : error
  }
}
