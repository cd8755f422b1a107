import { readdirSync, readFileSync, statSync } from 'node:fs'
import { chmod, lchown, link, lstat, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { chownTree } from '../../../../../server/platform/files/tree/chown.ts'
import { freezeFolder, freezeTree, RELEASE_LIMITS } from '../../../../../server/platform/files/tree/freeze.ts'
import { runProcess } from '../../../../../server/platform/process/spawn.ts'
import { systemEnv } from '../../../../../server/platform/process/system-tools.ts'

const isRoot = process.getuid?.() === 0
const SERVICE_UID = 54_321

let box = ''
beforeEach(async () => {
  box = await mkdtemp(join(tmpdir(), 'cpd-freeze-'))
  await chmod(box, 0o711)
})
afterEach(() => rm(box, { recursive: true, force: true }))

const owner = isRoot ? { uid: 0, gid: SERVICE_UID, maker: SERVICE_UID } : undefined
const modeOf = async (path: string) => (await lstat(join(box, path))).mode & 0o7777

test('nobody may write, and the group may read and run what the owner could', async () => {
  await mkdir(join(box, 'tree/sub'), { recursive: true })
  for (const [name, mode] of [
    ['tree/script', 0o4755],
    ['tree/data', 0o666],
    ['tree/sub/own', 0o600],
  ] as const) {
    await writeFile(join(box, name), '')
    if (isRoot) await lchown(join(box, name), SERVICE_UID, SERVICE_UID)
    await chmod(join(box, name), mode)
  }
  await freezeTree(join(box, 'tree'), owner)
  expect(await modeOf('tree/script')).toBe(isRoot ? 0o750 : 0o550)
  expect(await modeOf('tree/data')).toBe(isRoot ? 0o640 : 0o440)
  expect(await modeOf('tree/sub/own')).toBe(isRoot ? 0o640 : 0o440)
  expect(await modeOf('tree/sub')).toBe(0o750)
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

test.runIf(isRoot)('a hard link to a file of somebody else is refused, and the file stays as it is', async () => {
  // Where fs.protected_hardlinks is 0, anybody may make one, of /etc/shadow, say.
  const tree = join(box, 'tree')
  await mkdir(tree)
  await writeFile(join(box, 'shadow'), 'secret', { mode: 0o600 })
  await link(join(box, 'shadow'), join(tree, 'mine'))
  await lchown(tree, SERVICE_UID, SERVICE_UID)
  await expect(freezeTree(tree, owner)).rejects.toThrow('"mine" is a hard link to a file of another user')
  expect(await lstat(join(box, 'shadow'))).toMatchObject({ uid: 0, gid: 0, mode: 0o100600 })
})

test('what has a name elsewhere is copied, and what has all its names inside is not', async () => {
  await mkdir(join(box, 'tree/sub'), { recursive: true })
  await writeFile(join(box, 'kept'), 'text', { mode: 0o755 })
  await link(join(box, 'kept'), join(box, 'tree/copied'))
  await writeFile(join(box, 'tree/one'), 'twice')
  await link(join(box, 'tree/one'), join(box, 'tree/sub/two'))
  if (isRoot) await chownTree(join(box, 'tree'), SERVICE_UID, SERVICE_UID)
  await freezeTree(join(box, 'tree'), owner)
  expect(readFileSync(join(box, 'tree/copied'), 'utf8')).toBe('text')
  expect(await modeOf('tree/copied')).toBe(isRoot ? 0o750 : 0o550)
  expect(await lstat(join(box, 'kept'))).toMatchObject({ nlink: 1, mode: 0o100755, uid: isRoot ? SERVICE_UID : process.getuid?.() })
  expect((await lstat(join(box, 'tree/one'))).ino).toBe((await lstat(join(box, 'tree/sub/two'))).ino)
  expect(await modeOf('tree/sub/two')).toBe(isRoot ? 0o640 : 0o440)
  expect(readdirSync(join(box, 'tree')).sort()).toEqual(['copied', 'one', 'sub'])
})

test('pipes and sockets are left out', async () => {
  await mkdir(join(box, 'tree'))
  await runProcess(['mkfifo', join(box, 'tree/pipe')], { env: systemEnv })
  await freezeTree(join(box, 'tree'), owner)
  expect(readdirSync(join(box, 'tree'))).toEqual([])
})

test.each([
  ['entries', { entries: 2 }, 'holds more than 2 files'],
  ['names', { pathBytes: 5 }, 'has more than 5 bytes of file names'],
  ['bytes', { bytes: 3 }, 'is larger than 3 bytes'],
  ['depth', { depth: 0 }, 'is deeper than 0 folders'],
] as const)('a tree of too many %s is refused', async (_, limits, message) => {
  await mkdir(join(box, 'tree/sub'), { recursive: true })
  for (const name of ['a', 'sub/b']) await writeFile(join(box, 'tree', name), 'xx')
  if (isRoot) await chownTree(join(box, 'tree'), SERVICE_UID, SERVICE_UID)
  await expect(freezeTree(join(box, 'tree'), owner, { ...RELEASE_LIMITS, ...limits })).rejects.toThrow(message)
})
