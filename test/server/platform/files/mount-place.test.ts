import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { folderToCover } from '../../../../server/platform/files/mount-place.ts'

test('nothing is mounted below a folder in which anybody may put a link', () => {
  // Below /tmp everything is open to all.
  const dir = realpathSync(mkdtempSync(join(homedir(), 'place-')))
  try {
    mkdirSync(join(dir, 'open', 'own'), { recursive: true })
    expect(folderToCover(join(dir, 'open', 'own'))).toBeUndefined()
    chmodSync(join(dir, 'open'), 0o1777)
    expect(() => folderToCover(join(dir, 'open', 'own'))).toThrow(/everybody may put/)
    expect(() => folderToCover(join(dir, 'open', 'own', 'new'))).toThrow(/everybody may put/)
    expect(folderToCover(join(dir, 'open', 'new'))).toBe(join(dir, 'open'))
    expect(() => folderToCover(join(realpathSync(tmpdir()), crypto.randomUUID(), 'y'))).not.toThrow()
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
})
