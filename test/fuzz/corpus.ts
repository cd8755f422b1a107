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

/** Keeps an input, named by its contents. Returns the name. */
export function keep(target: string, input: Buffer): string {
  const name = createHash('sha256').update(input).digest('hex').slice(0, 12)
  mkdirSync(folderOf(target), { recursive: true })
  writeFileSync(join(folderOf(target), name), input)
  return name
}

function folderOf(target: string): string {
  return join(import.meta.dirname, 'corpus', target)
}
