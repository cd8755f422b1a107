import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { hidingProblem, placeProblem, topFolderOf } from '../../../../server/engines/process/volumes/mount-path.ts'

const needed = ['/var/lib/cpd', '/opt/tools/go/bin']

test.each(['/var/data', '/var/lib/postgresql', '/var/lib/cpd-other', '/opt/app'])('a volume at %s hides nothing', (path) => {
  expect(hidingProblem(path, needed)).toBeUndefined()
})

test.each(['/var/lib/cpd', '/var/lib/cpd/services/srv/home', '/opt/tools'])('a volume at %s would hide what instances need', (path) => {
  expect(hidingProblem(path, needed)).toContain('would hide')
})

test('a volume would hide a folder that is needed by the name of a link to it', () => {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'mount-path-')))
  mkdirSync(join(dir, 'real'))
  symlinkSync(join(dir, 'real'), join(dir, 'link'))
  expect(hidingProblem(join(dir, 'real'), [join(dir, 'link')])).toContain(`would hide ${join(dir, 'real')}`)
  rmSync(dir, { recursive: true })
})

test('the first folder of a path must be there', () => {
  expect(topFolderOf('/data/a/b')).toBe('/data')
  expect(topFolderOf('/data')).toBe('/data')
  expect(placeProblem('/cpd-test-lacks-this/data')).toContain('has no folder /cpd-test-lacks-this')
  expect(placeProblem('/var/data')).toBeUndefined()
})
