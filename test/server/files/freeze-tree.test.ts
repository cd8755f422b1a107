import { readdirSync, statSync } from 'node:fs'
import { chmod, lstat, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { chownTree } from '../../../server/files/chown-tree.ts'
import { freezeFolder, freezeTree } from '../../../server/files/freeze-tree.ts'

const isRoot = process.getuid?.() === 0
const SERVICE_UID = 54_321

let box = ''
beforeEach(async () => {
  box = await mkdtemp(join(tmpdir(), 'cpd-freeze-'))
  await chmod(box, 0o711)
})
afterEach(() => rm(box, { recursive: true, force: true }))

const owner = isRoot ? { uid: 0, gid: SERVICE_UID } : undefined
const modeOf = async (path: string) => (await lstat(join(box, path))).mode & 0o7777

test('nobody may write, and the group may read and run what the owner could', async () => {
  await mkdir(join(box, 'tree/sub'), { recursive: true })
  for (const [name, mode] of [
    ['tree/script', 0o4755],
    ['tree/data', 0o666],
    ['tree/sub/own', 0o600],
  ] as const) {
    await writeFile(join(box, name), '')
    await chmod(join(box, name), mode)
  }
  await freezeTree(join(box, 'tree'), owner)
  expect(await modeOf('tree/script')).toBe(0o550)
  expect(await modeOf('tree/data')).toBe(0o440)
  expect(await modeOf('tree/sub/own')).toBe(0o440)
  expect(await modeOf('tree/sub')).toBe(isRoot ? 0o550 : 0o750)
  if (isRoot) expect(await lstat(join(box, 'tree/sub/own'))).toMatchObject({ uid: 0, gid: SERVICE_UID })
})

test('what a link points to is left alone', async () => {
  await mkdir(join(box, 'tree'))
  await mkdir(join(box, 'folder'))
  await writeFile(join(box, 'outside'), '')
  await chmod(join(box, 'outside'), 0o640)
  await symlink('../outside', join(box, 'tree/link'))
  await symlink('../folder', join(box, 'tree/up'))
  const folder = await modeOf('folder')
  await freezeTree(join(box, 'tree'), owner)
  expect(await modeOf('outside')).toBe(0o640)
  expect(await modeOf('folder')).toBe(folder)
})

test('a folder that has become a link is refused', async () => {
  await mkdir(join(box, 'elsewhere'), { mode: 0o755 })
  await symlink('elsewhere', join(box, 'tree'))
  await expect(freezeFolder(join(box, 'tree'), undefined)).rejects.toMatchObject({ code: 'bad_request' })
  expect(await modeOf('elsewhere')).toBe(0o755)
})

test.runIf(isRoot)('a folder is taken from its owner before anything in it is touched', async () => {
  // An owner who could still write to the folder could swap a file for a link, and have the mode of any file changed.
  const tree = join(box, 'tree')
  await mkdir(join(tree, 'sub'), { recursive: true })
  for (let i = 0; i < 200; i++) await writeFile(join(tree, `sub/file${i}`), '')
  await chownTree(tree, SERVICE_UID, SERVICE_UID)
  const isOwners = (path: string) => statSync(join(tree, path)).uid === SERVICE_UID
  let looks = 0
  let isDone = false
  const freezing = freezeTree(tree, owner).then(() => {
    isDone = true
  })
  while (!isDone) {
    const isFolderOpen = isOwners('sub')
    if (isFolderOpen) expect(readdirSync(join(tree, 'sub')).filter((name) => !isOwners(`sub/${name}`))).toEqual([])
    looks += 1
    await new Promise((resolve) => setImmediate(resolve))
  }
  await freezing
  expect(looks).toBeGreaterThan(5)
})
