import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { findSourceRoot } from '../../../../server/builders/detect/source-root.ts'
import { openSourceView } from '../../../../server/builders/detect/source-view.ts'

let box: string
let dir: string
beforeEach(async () => {
  box = await realpath(await mkdtemp(join(tmpdir(), 'root-')))
  dir = join(box, 'source')
  await mkdir(dir)
})
afterEach(() => rm(box, { recursive: true, force: true }))

async function put(...paths: string[]): Promise<void> {
  for (const path of paths) {
    await mkdir(dirname(join(dir, path)), { recursive: true })
    await writeFile(join(dir, path), '{}')
  }
}

const find = (rootDir = '', publishPath?: string) => findSourceRoot({ dir, rootDir, ...(publishPath === undefined ? {} : { publishPath }) })

test('a source is built where it stands', async () => {
  await put('package.json', 'src/x')
  expect(find()).toBe(dir)
})

test('a folder around everything is entered when it looks like an app', async () => {
  await put('repo-main/package.json', 'repo-main/src/x')
  expect(find()).toBe(join(dir, 'repo-main'))
})

test('a folder beside another, without a marker, or named as publish path is not entered', async () => {
  await put('static/x.txt')
  expect(find()).toBe(dir)
  await put('static/index.html')
  expect(find('', 'static/')).toBe(dir)
  expect(find()).toBe(join(dir, 'static'))
  await put('other/y')
  expect(find()).toBe(dir)
})

test('rootDir is found in the source or inside its wrapper', async () => {
  await put('repo-main/apps/web/package.json')
  expect(find('apps/web')).toBe(join(dir, 'repo-main/apps/web'))
  expect(find('repo-main/apps')).toBe(join(dir, 'repo-main/apps'))
})

test('a rootDir that is missing, a file or leads out is refused', async () => {
  await put('package.json')
  await symlink('..', join(dir, 'up'))
  for (const rootDir of ['missing', 'package.json', 'up', '../..']) expect(() => find(rootDir)).toThrow('The source has no folder')
})

test('a view reads files and links inside the source, and nothing outside or too large', async () => {
  await put('a.json', 'cmd/b/x', 'cmd/a/x')
  await writeFile(join(box, 'secret'), 'secret')
  await symlink('../secret', join(dir, 'out'))
  await symlink('a.json', join(dir, 'in'))
  await writeFile(join(dir, 'huge'), Buffer.alloc(1024 * 1024 + 1))
  const view = openSourceView(dir)
  expect([view.has('a.json'), view.has('cmd'), view.has('out'), view.has('in')]).toEqual([true, false, false, true])
  expect([view.read('a.json'), view.read('in'), view.read('out'), view.read('../secret'), view.read('none')]).toEqual([
    '{}',
    '{}',
    undefined,
    undefined,
    undefined,
  ])
  expect([view.folders('cmd'), view.folders('none'), view.folders('a.json')]).toEqual([['a', 'b'], [], []])
  expect(() => view.read('huge')).toThrow('huge has 1048577 bytes')
})
