import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { headBeneath, listBeneath, statBeneath } from '../../../../../server/platform/files/tree/beneath.ts'
import { runProcess } from '../../../../../server/platform/process/spawn.ts'
import { systemEnv } from '../../../../../server/platform/process/system-tools.ts'
import { exchanging } from './exchange.ts'

let box = ''
let root = ''
beforeEach(async () => {
  box = await mkdtemp(join(tmpdir(), 'beneath-'))
  root = join(box, 'root')
  await mkdir(join(root, 'a/b'), { recursive: true })
  await writeFile(join(root, 'a/b/file'), 'inside')
  await mkdir(join(box, 'outside'))
  await writeFile(join(box, 'outside/file'), 'outside')
})
afterEach(() => rm(box, { recursive: true, force: true }))

const MAX = 100
const kindOf = (path: string) => statBeneath(root, path).kind
const textOf = (path: string) => headBeneath(root, path, MAX)?.toString()

test('files and folders are found, through links inside as well, at their real path', async () => {
  await symlink('a', join(root, 'link'))
  await symlink('../link/b/file', join(root, 'a/deep'))
  expect(statBeneath(root, 'a/deep')).toEqual({ kind: 'file', sizeBytes: 6, realPath: 'a/b/file' })
  expect(statBeneath(root, './link//b/')).toMatchObject({ kind: 'folder', realPath: 'a/b' })
  expect(statBeneath(root, '')).toMatchObject({ kind: 'folder', realPath: '' })
  expect(textOf('a/deep')).toBe('inside')
  expect(listBeneath(root, '')).toEqual([
    { name: 'a', kind: 'folder' },
    { name: 'link', kind: 'other' },
  ])
})

test('what links lead to by way of a thousand names is not there', async () => {
  for (let link = 0; link < 10; link++) await symlink(`${'a/../'.repeat(50)}link-${link + 1}`, join(root, `link-${link}`))
  await symlink('a/b/file', join(root, 'link-10'))
  expect([kindOf('link-9'), kindOf('link-0')]).toEqual(['file', 'absent'])
})

test('what leads out is told as such, even when it comes back', async () => {
  for (const [name, target] of [
    ['absolute', '/etc/passwd'],
    ['up', '../outside/file'],
    ['back', '../root/a'],
    ['gone', '../nothing'],
  ] as const)
    await symlink(target, join(root, name))
  for (const path of ['absolute', 'up', 'back', 'gone', '..', 'a/../../outside/file']) {
    expect(kindOf(path), path).toBe('outside')
    expect(textOf(path), path).toBeUndefined()
    expect(listBeneath(root, path), path).toEqual([])
  }
})

test('what is not there is absent: missing, below a file, a circle of links, a link to nothing', async () => {
  await symlink('circle', join(root, 'circle'))
  await symlink('nothing/../../x', join(root, 'dangling'))
  for (const path of ['none', 'a/b/file/x', 'a/b/file/', 'circle', 'dangling', 'n'.repeat(300)]) expect(kindOf(path), path).toBe('absent')
  expect(statBeneath(join(box, 'none'), 'a').kind).toBe('absent')
})

test('a root that is a link is not entered', async () => {
  await symlink('root', join(box, 'root-link'))
  expect(statBeneath(join(box, 'root-link'), 'a').kind).toBe('absent')
})

test('a pipe is looked at and never opened', async () => {
  await runProcess(['mkfifo', join(root, 'pipe')], { env: systemEnv })
  expect(kindOf('pipe')).toBe('other')
  expect(textOf('pipe')).toBeUndefined()
})

test('no more is read of a file than was asked for', () => {
  expect(headBeneath(root, 'a/b/file', 2)?.toString()).toBe('in')
})

test('nothing outside is read while a folder is exchanged for a link', async () => {
  const stop = await exchanging(join(root, 'a/b'), join(box, 'outside'))
  try {
    const read = new Set(Array.from({ length: 5000 }, () => textOf('a/b/file')))
    expect([...read].filter((text) => text !== undefined && text !== 'inside')).toEqual([])
  } finally {
    await stop()
  }
})
