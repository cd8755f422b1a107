import { existsSync, writeFileSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { extractIsolated } from '../../../../server/platform/archives/isolated.ts'
import { DEFAULT_EXTRACT_LIMITS as limits } from '../../../../server/platform/archives/rules.ts'
import { spawnProcess } from '../../../../server/platform/process/spawn.ts'
import { tarGz } from '../../../support/archives.ts'
import { until } from '../../../support/until.ts'

let box = ''
beforeEach(async () => {
  box = await mkdtemp(join(tmpdir(), 'extract-apart-'))
})
afterEach(() => rm(box, { recursive: true, force: true }))

/** Some seconds of work. */
const manyFiles = () => tarGz(Array.from({ length: 20_000 }, (_, index) => ({ name: `file-${index}`, content: 'x' })))

async function taskOf(archive: Uint8Array) {
  const path = join(box, 'archive')
  writeFileSync(path, archive)
  return { path, format: 'tar.gz' as const, into: join(box, 'tree'), limits }
}

test('unpacks and tells what it unpacked', async () => {
  const task = await taskOf(await tarGz([{ name: 'a/b', content: 'hello' }]))
  expect(await extractIsolated(task)).toEqual({ fileCount: 1, totalBytes: 5 })
  expect(await readFile(join(task.into, 'a/b'), 'utf8')).toBe('hello')
})

test('what is refused is refused in the same words, and nothing is left', async () => {
  const task = await taskOf(await tarGz([{ name: '../x', content: '' }]))
  await expect(extractIsolated(task)).rejects.toMatchObject({
    code: 'bad_request',
    message: expect.stringContaining('climbs with ".."'),
  })
  await expect(extractIsolated({ ...task, path: join(box, 'none') })).rejects.toMatchObject({ code: 'unavailable' })
  expect(await readdir(box)).toEqual(['archive'])
})

test('ten at once all come to their end', async () => {
  const task = await taskOf(await tarGz([{ name: 'a', content: 'hello' }]))
  const results = await Promise.all(
    Array.from({ length: 10 }, (_, index) => extractIsolated({ ...task, into: join(box, `tree-${index}`) })),
  )
  expect(results.map(({ fileCount }) => fileCount)).toEqual(Array.from({ length: 10 }, () => 1))
})

test('ends with the reason when aborted, and leaves nothing', async () => {
  const task = await taskOf(await manyFiles())
  const abort = new AbortController()
  const reason = new Error('canceled')
  const extraction = extractIsolated({ ...task, signal: abort.signal })
  const told = expect(extraction).rejects.toBe(reason)
  await until('it has begun', () => existsSync(task.into))
  abort.abort(reason)
  await told
  expect(await readdir(box)).toEqual(['archive'])
})

test('ends with whoever wanted it, however that ended, and leaves nothing', async () => {
  const task = await taskOf(await manyFiles())
  const module = import.meta.resolve('../../../../server/platform/archives/isolated.ts')
  const script = `const { extractIsolated } = await import(${JSON.stringify(module)}); await extractIsolated(${JSON.stringify(task)})`
  const parent = spawnProcess([process.execPath, '-e', script], { env: { BUN_BE_BUN: '1' } })
  await until('it has begun', () => existsSync(task.into))
  parent.kill('SIGKILL')
  await parent.exited
  await until('nothing of it is left', () => !existsSync(task.into), 60_000)
})
