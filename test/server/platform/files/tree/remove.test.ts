import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { removeTree } from '../../../../../server/platform/files/tree/remove.ts'
import { runProcess } from '../../../../../server/platform/process/spawn.ts'
import { systemEnv } from '../../../../../server/platform/process/system-tools.ts'
import { exchanging } from './exchange.ts'

let box = ''
beforeEach(async () => {
  box = await mkdtemp(join(tmpdir(), 'remove-'))
})
afterEach(() => rm(box, { recursive: true, force: true }))

const NAMES = Array.from({ length: 20 }, (_, index) => `file-${index}`)

test('nothing outside is removed while a folder is exchanged for a link', async () => {
  const outside = join(box, 'outside')
  mkdirSync(outside)
  for (const name of NAMES) writeFileSync(join(outside, name), '')
  for (let round = 0; round < 8; round++) {
    const tree = join(box, `tree-${round}`)
    mkdirSync(join(tree, 'a/b'), { recursive: true })
    for (const name of NAMES) writeFileSync(join(tree, 'a/b', name), '')
    const stop = await exchanging(join(tree, 'a/b'), outside)
    // The removal may find a folder filled anew behind its back; what is left the next sweep removes.
    await removeTree(tree).catch(() => {})
    await stop()
    await removeTree(tree)
    expect(existsSync(tree)).toBe(false)
  }
  expect(readdirSync(outside).sort()).toEqual(NAMES.toSorted())
})

test('deep trees, links and what is not there are no trouble', async () => {
  const deep = join(box, 'deep')
  mkdirSync(join(deep, ...Array.from({ length: 200 }, () => 'd')), { recursive: true })
  await removeTree(deep)
  await removeTree(deep)
  expect(readdirSync(box)).toEqual([])
})

test('folders nested as deep as nobody could name them are removed, a few levels at a time', { timeout: 60_000 }, async () => {
  const deep = join(box, 'deep')
  mkdirSync(deep)
  const nest = 'for (1..4000) { mkdir "d"; chdir "d" or die; mkdir "beside" } open(my $file, ">", "file")'
  expect(await runProcess(['perl', '-e', nest], { cwd: deep, env: systemEnv })).toMatchObject({ exitCode: 0 })
  await removeTree(deep)
  expect(readdirSync(box)).toEqual([])
})
