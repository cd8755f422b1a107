import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { requireDataDir } from '../../../../server/boot/commands/data-dir.ts'
import { pathsOf } from '../../../../server/platform/paths.ts'

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cpd-data-dir-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

test('a folder that no server ever used is refused with what to give instead, and stays as it is', () => {
  expect(() => requireDataDir(pathsOf(folder, ''))).toThrow(`${folder} is not the data directory of a cpd. Give the one that it serves`)
  mkdirSync(join(folder, 'run'))
  expect(() => requireDataDir(pathsOf(folder, ''))).not.toThrow()
})
