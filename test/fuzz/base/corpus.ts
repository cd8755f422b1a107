import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** The inputs kept in the repository for a target: one for each outcome that was found, and one for each bug that was. */
export function corpusOf(target: string): { name: string; input: Buffer }[] {
  const folder = folderOf(target)
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .sort()
    .map((name) => ({ name, input: readFileSync(join(folder, name)) }))
}

const MAX_KEPT = 60

/** Worth keeping are the shortest of each kind of outcome, and the shortest others of what looked different. */
export function worthKeeping(discovered: ReadonlyMap<string, Buffer>): Buffer[] {
  const shortestFirst = [...discovered].sort(([, a], [, b]) => a.length - b.length)
  const kinds = new Map<string, Buffer>()
  for (const [outcome, input] of shortestFirst) {
    const kind = outcome.split('/')[0] ?? ''
    if (!kinds.has(kind)) kinds.set(kind, input)
  }
  const step = Math.max(1, Math.floor(shortestFirst.length / MAX_KEPT))
  const others = shortestFirst.filter((_, index) => index % step === 0).map(([, input]) => input)
  return [...new Set([...kinds.values(), ...others])].slice(0, Math.max(MAX_KEPT, kinds.size))
}

/** Keeps an input, named by its contents. Returns the name. */
export function keep(target: string, input: Buffer): string {
  const name = createHash('sha256').update(input).digest('hex').slice(0, 12)
  mkdirSync(folderOf(target), { recursive: true })
  writeFileSync(join(folderOf(target), name), input)
  return name
}

function folderOf(target: string): string {
  return join(import.meta.dirname, '../corpus', target)
}
