import { lstat, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { chownTree } from '../../../../../server/platform/files/tree/chown.ts'

test('everything in a tree changes owner, links themselves included, and nothing they point to', async () => {
  const box = await mkdtemp(join(tmpdir(), 'chown-'))
  const before = await lstat(box)
  const uid = before.uid === 0 ? 54_321 : before.uid
  const gid = before.uid === 0 ? 54_321 : before.gid
  try {
    await mkdir(join(box, 'tree/sub'), { recursive: true })
    await writeFile(join(box, 'outside'), '')
    await writeFile(join(box, 'tree/sub/file'), '')
    await symlink('../outside', join(box, 'tree/link'))
    await symlink('..', join(box, 'tree/up'))
    await chownTree(join(box, 'tree'), uid, gid)
    for (const path of ['tree', 'tree/sub', 'tree/sub/file', 'tree/link', 'tree/up'])
      expect(await lstat(join(box, path)), path).toMatchObject({ uid, gid })
    for (const path of ['', 'outside']) expect((await lstat(join(box, path))).uid).toBe(before.uid)
  } finally {
    await rm(box, { recursive: true, force: true })
  }
})
