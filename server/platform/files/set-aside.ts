import { mkdirSync, readdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'

const ROOTS_ALONE = 0o700

/** Moves what is not kept of a folder into the trash, in one turn of the event loop, and returns where it stands there. */
export function setAside(folder: string, trash: string, isKept: (name: string) => boolean): string[] {
  const gone = namesIn(folder).filter((name) => !isKept(name))
  if (gone.length > 0) mkdirSync(trash, { recursive: true, mode: ROOTS_ALONE })
  return gone.map((name) => {
    const place = join(trash, crypto.randomUUID())
    renameSync(join(folder, name), place)
    return place
  })
}

export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
