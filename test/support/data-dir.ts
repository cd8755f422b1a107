import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Paths, pathsOf } from '../../server/platform/paths.ts'

/** A data directory of its own below `parent`, with the folders a start makes. */
export function makeDataDir(parent = tmpdir()): { dir: string; paths: Paths; remove: () => void } {
  const dir = mkdtempSync(join(parent, 'cpd-test-'))
  const paths = pathsOf(dir)
  for (const folder of [paths.db, paths.run, paths.uploads, paths.fetches, paths.disks]) mkdirSync(folder, { recursive: true, mode: 0o700 })
  return { dir, paths, remove: () => rmSync(dir, { recursive: true, force: true }) }
}
