import { chmod, mkdir, mkdtemp, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { hashTree } from '../../../../server/runtime/artifacts/content-hash.ts'

let box: string
let dir: string
beforeEach(async () => {
  box = await mkdtemp(join(tmpdir(), 'hash-'))
  dir = join(box, 'tree')
  await mkdir(join(dir, 'sub'), { recursive: true })
  await writeFile(join(dir, 'a'), 'one')
  await writeFile(join(dir, 'sub/b'), Buffer.alloc(2 * 1024 * 1024, 'b'))
  await symlink('sub/b', join(dir, 'link'))
})
afterEach(() => rm(box, { recursive: true, force: true }))

test('the address of a tree does not depend on where it stands or when it was written', async () => {
  const before = await hashTree(dir)
  await utimes(join(dir, 'a'), 1, 1)
  await rename(dir, join(box, 'moved'))
  expect(await hashTree(join(box, 'moved'))).toBe(before)
  expect(before).toMatch(/^[0-9a-f]{64}$/)
})

test('a changed content, mode, name, link target or empty folder changes the address', async () => {
  const seen = new Set([await hashTree(dir)])
  await writeFile(join(dir, 'a'), 'two')
  seen.add(await hashTree(dir))
  await chmod(join(dir, 'a'), 0o755)
  seen.add(await hashTree(dir))
  await rename(join(dir, 'a'), join(dir, 'c'))
  seen.add(await hashTree(dir))
  await rm(join(dir, 'link'))
  await symlink('sub', join(dir, 'link'))
  seen.add(await hashTree(dir))
  await mkdir(join(dir, 'empty'))
  seen.add(await hashTree(dir))
  expect(seen.size).toBe(6)
})

test('what a link points to is not read', async () => {
  await writeFile(join(box, 'outside'), '1')
  await symlink('../outside', join(dir, 'out'))
  const before = await hashTree(dir)
  await writeFile(join(box, 'outside'), '2')
  expect(await hashTree(dir)).toBe(before)
})
