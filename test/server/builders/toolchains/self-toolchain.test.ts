import { chmod, mkdtemp, readdir, readFile, readlink, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ensureSelfToolchain } from '../../../../server/builders/toolchains/self-toolchain.ts'

let box: string
let dir: string
let executable: string
beforeEach(async () => {
  box = await mkdtemp(join(tmpdir(), 'self-'))
  dir = join(box, 'toolchain')
  executable = join(box, 'cpd')
  await writeFile(executable, 'first', { mode: 0o755 })
})
afterEach(() => rm(box, { recursive: true, force: true }))

const ensure = () => ensureSelfToolchain({ dir, executable })

test('the executable stands under three names, linked where it can be, for all to run', async () => {
  expect(await ensure()).toBe(dir)
  for (const name of ['bun', 'bunx', 'node']) expect(await readFile(join(dir, name), 'utf8')).toBe('first')
  expect((await stat(join(dir, 'bun'))).ino).toBe((await stat(executable)).ino)
  expect((await stat(dir)).mode & 0o777).toBe(0o755)
})

test('an executable that others may not run is copied', async () => {
  await chmod(executable, 0o700)
  await ensure()
  expect((await stat(join(dir, 'bun'))).mode & 0o777).toBe(0o755)
  expect((await stat(join(dir, 'bun'))).ino).not.toBe((await stat(executable)).ino)
})

test('a second start changes nothing, a new executable replaces the old and what was left half-done', async () => {
  await ensure()
  const before = await readlink(join(dir, 'bun'))
  await ensure()
  expect(await readlink(join(dir, 'bun'))).toBe(before)
  await writeFile(join(dir, 'incoming-x'), 'half')
  await rm(executable)
  await writeFile(executable, 'the second', { mode: 0o755 })
  await ensure()
  expect(await readFile(join(dir, 'node'), 'utf8')).toBe('the second')
  expect(await readdir(dir)).toHaveLength(5)
})
