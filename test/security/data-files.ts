import { type Dirent, lstatSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Everything below a folder, links not followed. */
export const everythingIn = (dir: string): Dirent[] => readdirSync(dir, { recursive: true, withFileTypes: true })

export const pathOf = (entry: Dirent): string => join(entry.parentPath, entry.name)

/** The files below `dir` whose bytes hold one of the texts; files that went away meanwhile hold nothing. */
export function filesWith(dir: string, texts: readonly string[], isLookedAt: (path: string) => boolean): { path: string; text: string }[] {
  return everythingIn(dir)
    .filter((entry) => entry.isFile() && isLookedAt(pathOf(entry)))
    .flatMap((entry) => {
      const bytes = bytesOf(pathOf(entry))
      return texts.filter((text) => bytes.includes(text)).map((text) => ({ path: pathOf(entry), text }))
    })
}

/** Argument lists of all processes of the machine. */
export const allCommandLines = (): string[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => bytesOf(`/proc/${pid}/cmdline`).toString('latin1'))

function bytesOf(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch {
    return Buffer.alloc(0)
  }
}

export interface Owned {
  path: string
  mode: number
  uid: number
}

export function ownedOf(path: string): Owned {
  const { mode, uid } = lstatSync(path)
  return { path, mode: mode & 0o7777, uid }
}
