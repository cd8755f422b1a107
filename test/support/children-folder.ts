import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export const CHILDREN_FOLDER = 'CPD_TEST_CHILDREN'

/** Gives a run of tests a folder for the programs that they start, and returns what removes it. Vitest calls it by this name, for each project. */
export function setup(): (() => void) | undefined {
  if (process.env[CHILDREN_FOLDER] !== undefined) return undefined
  const folder = mkdtempSync(join(tmpdir(), 'cpd-children-'))
  process.env[CHILDREN_FOLDER] = folder
  return () => rmSync(folder, { recursive: true, force: true })
}
