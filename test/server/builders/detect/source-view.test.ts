import { mkdir, mkdtemp, rm, symlink, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { detectBuild } from '../../../../server/builders/detect/detect.ts'
import { openSourceView } from '../../../../server/builders/detect/source-view.ts'
import { everyTool } from './source.ts'

const MIB = 1024 * 1024

let dir: string
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'view-'))
})
afterEach(() => rm(dir, { recursive: true, force: true }))

/** A file of `sizeBytes`, which takes no room on the disk. */
async function place(name: string, head: string, sizeBytes: number): Promise<void> {
  await writeFile(join(dir, name), head)
  await truncate(join(dir, name), sizeBytes)
}

const plan = () => detectBuild({ files: openSourceView(dir), settings: { type: 'web_service' }, toolchains: everyTool })

test.each([
  ['yarn.lock', '# yarn lockfile v1\n', 'npx --yes yarn@1 install --frozen-lockfile'],
  ['pnpm-lock.yaml', "lockfileVersion: '6.0'\n", 'npx --yes pnpm@8 install --frozen-lockfile'],
  ['package-lock.json', '{', 'npm ci'],
])('a %s of 64 MiB is taken, and a larger one refused where it is read', async (name, head, install) => {
  await writeFile(join(dir, 'package.json'), JSON.stringify({ dependencies: { ms: '2' }, scripts: { start: 'node .' } }))
  await place(name, head, 64 * MIB)
  expect(plan().steps.map(({ command }) => command)).toEqual([install])
  await place(name, head, 64 * MIB + 1)
  if (name !== 'package-lock.json') expect(plan).toThrow(`${name} has 67108865 bytes, and 67108864 are the most that is read`)
})

test('a configuration file above 1 MiB is refused', async () => {
  await place('package.json', '{', MIB + 1)
  expect(plan).toThrow('package.json has 1048577 bytes')
})

test('files and folders are listed apart, and links to the outside are nowhere', async () => {
  await mkdir(join(dir, 'b'))
  await writeFile(join(dir, 'a'), 'text')
  await symlink('/etc/passwd', join(dir, 'c'))
  const view = openSourceView(dir)
  expect([view.names('.'), view.folders('.'), view.names('missing')]).toEqual([['a'], ['b'], []])
  expect([view.head('a'), view.head('c'), view.has('c'), view.head('b')]).toEqual(['text', undefined, false, undefined])
})

test('files are read once, and no more of them than four mebibytes', async () => {
  for (let at = 0; at < 5; at++) await place(`${at}.json`, '{}', MIB)
  const view = openSourceView(dir)
  for (let again = 0; again < 3; again++) for (let at = 0; at < 4; at++) expect(view.read(`${at}.json`)?.slice(0, 2)).toBe('{}')
  await writeFile(join(dir, '0.json'), 'changed')
  expect(view.read('0.json')?.slice(0, 2)).toBe('{}')
  expect(() => view.read('4.json')).toThrow('more than 4 MiB together')
})
